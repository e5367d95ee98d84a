"""Imports point one way between the rooms of src/fedrepro, and the linter sees one that does not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fedrepro.pipeline.config import ROOT

WRONG = {
    "mathematics that counts": ("maths/steps.py", "fedrepro.federation.ledger"),
    "a federation that runs experiments": ("federation/clients.py", "fedrepro.experiments.runner"),
    "a report that knows a paper": ("reporting/style.py", "fedrepro.papers.shed.readings"),
    "an algorithm that reads files": ("algorithms/fedgd.py", "fedrepro.datasets.files"),
    "a dataset that takes proximal steps": ("datasets/boston.py", "fedrepro.maths.proxes"),
    "a paper that leans on another": ("papers/shed/readings.py", "fedrepro.papers.fco.readings"),
    "a figure that reads claims": ("papers/fedhybrid/figures.py", "fedrepro.papers.fedhybrid.claims"),
    "a claim that reads figures": ("papers/fedhybrid/claims.py", "fedrepro.papers.fedhybrid.figures"),
    "a room of its own": ("odds_and_ends.py", "fedrepro.maths.steps"),
}


def lint_imports(folder: Path) -> subprocess.CompletedProcess:
    """The linter on the library below `folder`, by the project's contracts."""
    command = [
        Path(sys.executable).with_name("lint-imports"),
        "--no-cache",
        "--config",
        ROOT / "pyproject.toml",
    ]
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def library(tmp_path):
    """A copy of src, to plant things in."""
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    return tmp_path


def test_every_import_points_the_right_way(library):
    done = lint_imports(library)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_import_is_seen(wrong, library):
    file, module = WRONG[wrong]
    path = library / "src/fedrepro" / file
    before = path.read_text() if path.exists() else ""
    path.write_text(before + f"\nimport {module}\n")
    done = lint_imports(library)
    assert done.returncode == 1 and "BROKEN" in done.stdout, done.stdout + done.stderr
