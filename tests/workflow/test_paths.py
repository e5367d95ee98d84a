"""The project, its environment included, under a folder whose name has blanks, accents and a shell's letters."""

import sys

import pytest

from project_copy import copy_project, snakemake

pytestmark = pytest.mark.workflow


def test_a_figure_under_a_name_that_needs_quotes(tmp_path, monkeypatch):
    project = copy_project(tmp_path / "a b é & it's" / "fed")
    (project / ".venv").symlink_to(sys.prefix)
    monkeypatch.setattr(sys, "executable", str(project / ".venv/bin/python"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # so that only the prefix of the jobs finds the interpreter
    pdf = "results/smoke/figures/fedsplit/fig1.pdf"
    snakemake(project, "--cores", "2", "fedsplit_fig1", pdf, "--config", "scale=smoke")
    folder = project / "results/smoke/figures/fedsplit"
    assert {path.name for path in folder.iterdir()} == {"fig1.svg", "fig1.pdf", "fig1.png"}
