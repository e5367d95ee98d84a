"""Nothing stale or foreign is ever drawn or judged, with or without Snakemake's own records."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from dry_runs import copy_of, pending
from fedrepro import datasets
from fedrepro.experiments import trace
from fedrepro.experiments.results import Results, Stale
from fedrepro.pipeline import current
from fedrepro.pipeline.plan import Plan
from fedrepro.reporting.notebooks import unplanned
from project_copy import ROOT, environment, snakemake

pytestmark = pytest.mark.workflow
SMOKE = ("--config", "scale=smoke")


@pytest.fixture
def project(after):
    """Everything has been made, and then Snakemake's records were lost."""
    shutil.rmtree(after / ".snakemake")
    return after


def todo(project) -> set[str]:
    """The kinds of jobs that would run for figure 1."""
    out = snakemake(project, "-n", "fedsplit_fig1", *SMOKE).stdout
    if "Nothing to be done" in out:
        return set()
    counts = out.split("Job stats:")[1].split("total")[0]
    return {line.split()[0] for line in counts.splitlines()[3:] if line.strip()}


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_lost_records_alone_run_nothing(project):
    assert todo(project) == set()


def test_a_changed_configuration_is_noticed_and_a_reverted_one_too(project):
    path = project / "config/papers/fedsplit.yaml"
    edit(path, "sigma2: { value: 0.25, source: B.1 }", "sigma2: { value: 0.5, source: B.1 }")
    assert {"reference", "block", "figure"} <= todo(project)
    edit(path, "sigma2: { value: 0.5, source: B.1 }", "sigma2: { value: 0.25, source: B.1 }")
    assert todo(project) == set()


def test_changed_code_is_noticed(project):
    edit(
        project / "src/fedrepro/algorithms/fedprox.py",
        "x = clients.average(local)",
        "x = clients.average(local) + 0.0",
    )
    assert todo(project) == {"block", "figure", "fedsplit_fig1"}


def test_readers_refuse_what_another_configuration_made(project):
    key = project / "results/smoke/keys/traces/fedsplit_fig1/fedgd.key"
    key.write_text("another")
    with pytest.raises(Stale, match=r"fedgd\.parquet was made by another configuration .* run snakemake"):
        Results(project / "results/smoke").traces("fedsplit_fig1")
    key.write_text(trace.footer(project / "results/smoke/traces/fedsplit_fig1/fedgd.parquet")["key"])
    assert len(Results(project / "results/smoke").traces("fedsplit_fig1"))
    (project / "results/smoke/keys/reference/fedsplit_fig1.key").write_text("another")
    with pytest.raises(Stale, match="run snakemake"):
        Results(project / "results/smoke").reference("fedsplit_fig1")


def test_a_leftover_is_neither_read_nor_kept_by_tidy(project):
    folder = project / "results/smoke/traces/fedsplit_fig1"
    shutil.copy(folder / "fedgd.parquet", folder / "gone.parquet")
    snakemake(project, "-n", "fedsplit_fig1", *SMOKE)
    files = Results(project / "results/smoke").trace_files("fedsplit_fig1")
    assert "gone.parquet" not in {path.name for path in files}
    listed = snakemake(project, "--cores", "1", "tidy", *SMOKE)
    assert "gone.parquet: made by no rule" in listed.stdout + listed.stderr
    assert (folder / "gone.parquet").exists()
    snakemake(project, "--cores", "1", "tidy", *SMOKE, "remove=true")
    assert not (folder / "gone.parquet").exists()
    assert (folder / "fedgd.parquet").exists()
    assert todo(project) == set()


def test_an_algorithm_that_was_removed_is_not_drawn(project):
    path = project / "config/papers/fedsplit.yaml"
    text = path.read_text()
    above, below = text.split("      fedprox_limit:\n        parameters: *fedprox_fig1\n", 1)
    path.write_text(above + below.split("\n", 2)[2])  # its `stop` goes with it
    snakemake(project, "-n", "fedsplit_fig1", *SMOKE)
    files = Results(project / "results/smoke").trace_files("fedsplit_fig1")
    assert "fedprox_limit.parquet" not in {p.name for p in files}


def fedrepro(project, *words: str) -> subprocess.CompletedProcess:
    words = [sys.executable, "-m", "fedrepro.cli", "--scale", "smoke", *words]
    return subprocess.run(words, cwd=project, env=environment(project), capture_output=True, text=True)


@pytest.fixture
def plan(project, monkeypatch):
    """Of the project as it is now, its keys written."""
    monkeypatch.chdir(project)
    found = Plan({"scale": "smoke"})
    found.expect()
    return found


def test_commands_judge_by_the_configuration_as_it_is_now(project):
    """Without a run of Snakemake in between, which would have written the keys anew."""
    (project / "mine.py").write_text("")
    assert "S1 " in fedrepro(project, "claims").stdout
    code = project / "src/fedrepro/papers/arena/contest.py"
    code.write_text(code.read_text() + "\n# changed\n")
    edit(
        project / "config/papers/fedsplit.yaml",
        "sigma2: { value: 0.25, source: B.1 }",
        "sigma2: { value: 0.5, source: B.1 }",
    )
    claims, scored = fedrepro(project, "claims"), fedrepro(project, "score", "mine.py")
    assert claims.returncode == 1 and "S1 " not in claims.stdout and "H1 " in claims.stdout
    assert "tables/fedsplit_claims.csv older than what was read for that: run snakemake" in claims.stderr
    assert scored.returncode == 1 and "was made by another configuration or other code" in scored.stderr
    assert "Traceback" not in claims.stderr + scored.stderr
    status = fedrepro(project, "status").stdout
    assert "incomplete: " in status and "fig1 0/" in status


def test_what_is_older_than_its_traces_is_not_taken(project, plan):
    """A trace that was made again, and nobody drew or judged since."""
    assert current.outdated(plan, "fedsplit") == ""
    trace_file = project / "results/smoke/traces/fedsplit_fig1/fedgd.parquet"
    os.utime(trace_file)
    words = current.outdated(plan, "fedsplit")
    assert "older than what was read for that" in words and "--forcerun claims figure" in words
    shutil.copy(ROOT / "README.md", project / "README.md")
    (project / "docs").mkdir()
    published = fedrepro(project, "publish")
    assert "not published: fedsplit, results/smoke/" in published.stdout
    assert (
        fedrepro(project, "pack", "results/smoke")
        .stdout.strip()
        .endswith("fedhybrid, fco, hyfdca, shed, arena")
    )


def test_nothing_is_left_of_an_experiment_that_is_gone(project, plan):
    """A notebook that goes through the experiments of its paper finds those that are declared."""
    keys = project / "results/smoke/keys/traces"
    shutil.copytree(keys / "fedsplit_fig1", keys / "fedsplit_gone")
    plan.expect()
    assert not (keys / "fedsplit_gone").exists()
    assert len(unplanned(Results(project / "results/smoke"), "fedsplit").columns)


@pytest.mark.parametrize(
    "name", ["tables/fedsplit_slips.csv", "tables/fedsplit_evidence.parquet", "evidence.parquet"]
)
def test_every_file_of_a_job_is_missed(finished, tmp_path, name):
    """Snakemake itself misses only what somebody asks for."""
    project = copy_of(finished, tmp_path / "after")
    (project / "results/smoke" / name).unlink()
    assert f"results/smoke/{name}" in pending(project)


def test_a_run_by_hand_leaves_the_results_alone(project):
    before = {p: p.read_bytes() for p in (project / "results").rglob("*.parquet")}
    words = [sys.executable, "-m", "fedrepro.cli", "--scale", "smoke", "run", "fedsplit_fig1", "fedgd"]
    done = subprocess.run(words, cwd=project, env=environment(project), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {p: p.read_bytes() for p in (project / "results").rglob("*.parquet")} == before
    made = done.stdout.rsplit("trace: ", 1)[1].strip()
    assert not made.startswith(("results", str(project)))
    assert len(trace.read(made))


def test_other_numbers_in_an_array_are_noticed(tmp_path):
    folder = tmp_path / "decoded/toy"
    folder.mkdir(parents=True)
    X, y = np.arange(200_000, dtype=np.float64).reshape(-1, 20), np.arange(10_000)
    decoded = datasets.Decoded(X, y)
    meta = {
        "title": "toy", "origin": "mirror", "rows": 10_000, "columns": 20, "checksum": datasets.content_checksum(decoded),
        "arrays": {k: {"shape": list(a.shape), "sample": datasets.sample_of(a)} for k, a in (("X", X), ("y", y))},
    }  # fmt: skip
    (folder / "meta.json").write_text(json.dumps(meta))
    for name, array in (("X", X), ("y", y)):
        np.save(folder / f"{name}.npy", array)
    assert datasets.verify("toy", tmp_path).startswith("toy: 10,000 rows")
    np.save(folder / "X.npy", X + 1)
    with pytest.raises(datasets.DataError, match="other numbers than those that were decoded; remove"):
        datasets.load("toy", tmp_path)
    X[5000, 3] += 1.0  # one entry between two samples: only a look at every byte finds it
    np.save(folder / "X.npy", X)
    datasets.load("toy", tmp_path)
    with pytest.raises(datasets.DataError, match="not what was decoded"):
        datasets.verify("toy", tmp_path)
