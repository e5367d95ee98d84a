"""What rules ask a cluster for."""

import re
import subprocess
from fnmatch import fnmatch

import pytest

from fedrepro.pipeline.config import ROOT
from fedrepro.pipeline.requests import OWN_MB, OWN_MINUTES, request
from one_node_slurm import SNAKEMAKE


def asked(resources: dict, attempt: int) -> dict[str, int]:
    return {name: amount(None, attempt=attempt) for name, amount in resources.items()}


def test_what_is_declared_until_something_was_measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert asked(request("logs/*.cost", mem_mb=700), 1) == {"mem_mb": 700}
    assert request("logs/*.cost") == {}  # the profile's default


def test_the_largest_of_what_was_measured_and_more_with_every_attempt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.cost").write_text("600.0 590.0 200\n")
    (tmp_path / "large.cost").write_text("10.0 9.0 4000\n")
    (tmp_path / "unfinished.cost").write_text("")
    resources = request("*.cost", mem_mb=1)
    first, third = asked(resources, 1), asked(resources, 3)
    assert 4000 + OWN_MB < first["mem_mb"] < 8000 and 10 + OWN_MINUTES < first["runtime"] < 60
    assert third == {name: 3 * amount for name, amount in first.items()}


NAMES = re.compile(r"\{+(?!RESULTS)[\w.]+\}+")  # wildcards, and what rules made in a loop are named after


def test_rules_ask_with_the_costs_that_their_own_jobs_leave():
    """The pattern is that of the rule's log. Decoding takes all of the folder: its logs are named after datasets alone."""
    rules = [r for path in (ROOT / "workflow/rules").glob("*.smk") for r in path.read_text().split("\n\n\n")]
    asking = [rule for rule in rules if "request(" in rule]
    assert len(asking) > 10
    for rule in asking:
        log = re.search(r'log:\s+f?"([^"]+)\.log"', rule)[1]
        costs = re.search(r'request\(\s*f?"([^"]+)\.cost"', rule)[1]
        assert fnmatch(NAMES.sub("x", log), NAMES.sub("x", costs)), (log, costs)


def test_the_dockerfile_is_linted():
    hadolint = SNAKEMAKE[0].with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint is not installed: `make slurm`")
    done = subprocess.run([hadolint, ROOT / "envs/Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    bad = subprocess.run([hadolint, "-"], input="FROM python\nRUN cd /tmp\n", capture_output=True, text=True)
    assert bad.returncode, "it finds what is wrong"
