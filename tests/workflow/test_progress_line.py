"""A run shown in one line by `--logger fedrepro`, and what `fedrepro status` says of it, after a success and a failure."""

import subprocess
import sys

import pytest

from project_copy import copy_project, environment, snakemake

pytestmark = pytest.mark.workflow
TARGET = "--cores", "2", "fedsplit_fig1"
SCALE = "--config", "scale=smoke"
LOG = "results/smoke/logs/figures/fedsplit/fig1.log"


def status(project) -> list[str]:
    words = [sys.executable, "-m", "fedrepro.cli", "status"]
    done = subprocess.run(words, cwd=project, env=environment(project), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_one_line_and_the_status(tmp_path):
    project = copy_project(tmp_path / "project")
    assert status(project)[0] == "no run yet"

    said = snakemake(project, *TARGET, "--logger", "fedrepro", *SCALE).stderr
    lines = [line for line in said.splitlines() if " jobs" in line]
    assert lines[0].startswith("0 of 7 jobs, time left unknown | fedsplit 0/7")
    assert lines[-1].startswith("7 of 7 jobs in ") and lines[-1].endswith("| fedsplit 7/7")
    assert "rule" not in said and "Job stats" not in said and "\r" not in said
    (log,) = project.glob(".snakemake/log/*.log")
    assert "Job stats" in log.read_text() and f"Complete log(s): {log}" in said
    first, *rest = status(project)
    assert "at scale smoke, finished: 7 of 7 jobs done, 0 failed" in first
    assert any("5 of  31 blocks" in line and "fedsplit" in line for line in rest)

    script = project / "workflow/scripts/draw_figure.py"
    whole = script.read_text()
    script.write_text(whole.replace("as given:\n", 'as given:\n    raise ValueError("planted")\n'))
    failing = snakemake(project, *TARGET, "--logger", "fedrepro", "-R", "figure", *SCALE, check=False)
    assert failing.returncode == 1
    for words in (
        "ValueError: planted",
        f"(details in {LOG})",
        "Error in rule figure",
        "0 of 1 jobs, 1 failed",
    ):
        assert words in failing.stderr
    assert "Traceback" not in failing.stderr and "Traceback" in (project / LOG).read_text()
    first, second, *_ = status(project)
    assert "ended with failed jobs: 0 of 1 jobs done, 1 failed, about " in first
    assert second == f"  failed: Drawing fedsplit fig1: ValueError: planted ({LOG})"

    script.write_text(whole)  # nobody asks for the line: Snakemake's own words, and a journal all the same
    said = snakemake(project, *TARGET, *SCALE).stderr
    assert "Job stats" in said and "2 of 2 steps (100%) done" in said and " of 1 jobs" not in said
    assert "finished: 1 of 1 jobs done, 0 failed" in status(project)[0]
