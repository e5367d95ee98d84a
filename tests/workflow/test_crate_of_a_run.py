"""A run that the workflow has made, as a Workflow Run RO-Crate."""

import shutil
import subprocess
import sys

import pytest

import crates
from fedrepro.pipeline.config import ROOT, load
from project_copy import environment

pytestmark = pytest.mark.workflow


def test_a_finished_run_becomes_a_crate(after):
    pytest.importorskip("rocrate", reason="`make tools` installs it")
    shutil.copy(ROOT / "CITATION.cff", after)
    command = [sys.executable, "-m", "fedrepro.cli", "crate", "results/smoke"]
    done = subprocess.run(command, cwd=after, env=environment(after), capture_output=True, text=True)
    assert done.returncode == 0 and "left out" not in done.stdout, done.stdout + done.stderr
    entities = crates.check(after / "crate-smoke.zip")
    papers = load({"scale": "smoke"}, after).papers
    assert {"#run", *(f"#run-{name}" for name in papers)} <= set(entities)
    results = set(crates.named(entities["#run"]["result"]))
    for name, paper in papers.items():
        assert {f"results/smoke/figures/{name}/{figure}.svg" for figure in paper.raw["figures"]} <= results
    assert {
        f"results/smoke/{name}" for name in ("claims.csv", "evidence.parquet", "report/index.html")
    } <= results
    assert "#data-femnist" in crates.named(entities["#run"]["object"])
