"""The DAG as people use it: everything, one figure, nothing to do, one thing changed, killed and resumed."""

import json
import os
import subprocess
import sys
import zipfile

import pandas as pd
import pytest

from dry_runs import SMOKE, blocks, pending
from fedrepro.experiments import trace
from fedrepro.pipeline.config import load
from fedrepro.reporting.verdicts import VERDICTS
from project_copy import snakemake

pytestmark = pytest.mark.workflow


def test_everything_is_made(finished):
    config = load({"scale": "smoke"}, finished)
    results = finished / "results/smoke"
    for name, paper in config.papers.items():
        for figure in paper.raw["figures"]:
            for kind in ("svg", "png"):
                assert (results / f"figures/{name}/{figure}.{kind}").stat().st_size > 1000
        assert (results / f"notebooks/{name}.html").stat().st_size > 10_000
    claims = pd.read_csv(results / "claims.csv", keep_default_na=False)
    wanted = {(name, claim) for name, paper in config.papers.items() for claim in paper.raw["claims"]}
    assert set(zip(claims.paper, claims.id, strict=True)) == wanted
    assert set(claims.verdict) <= set(VERDICTS)
    assert (claims.scale == "smoke").all()


def test_no_figure_lies_there_that_no_rule_makes(finished):
    config = load({"scale": "smoke"}, finished)
    made = {f"{name}/{figure}" for name, paper in config.papers.items() for figure in paper.raw["figures"]}
    made |= {
        f"partitions/{name}_{part}"
        for name, paper in config.papers.items()
        for part in paper.raw.get("partitions", {})
    }
    made |= {
        f"claims/{name}/{claim}" for name, paper in config.papers.items() for claim in paper.raw["claims"]
    }
    made.add("costs")
    folder = finished / "results/smoke/figures"
    assert {str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("[!.]*.*")} == made


def test_every_trace_says_where_it_came_from(finished):
    for path in (finished / "results/smoke/traces").rglob("*.parquet"):
        facts = trace.footer(path)
        assert json.loads(facts["packages"])["numpy"]
        assert facts["cpu"] and facts["blas"] and facts["config_hash"]
        assert "1 thread" in facts["blas"]
        rows = trace.read(path)
        assert rows.data_origin.isin(
            ["synthetic", "publisher", "mirror", "package", "relative", "standin"]
        ).all()
        assert set(rows.status) <= {"done", "diverged", "budget", "dropped"}


def test_a_second_run_has_nothing_to_do(finished):
    assert "Nothing to be done" in snakemake(finished, "-n", *SMOKE).stdout


def test_dry_run_explains(project):
    out = snakemake(project, "-n", "fedsplit_fig3", *SMOKE).stdout
    assert "block" in out and "output files have to be generated" in out
    assert "fig3a" in out and "fig3b" in out and "fig1." not in out


def test_a_misspelt_key_stops_before_anything_runs_and_loses_nothing(after):
    before = {p: p.stat().st_mtime for p in (after / "results").rglob("*.*")}
    done = snakemake(after, "--cores", "1", "--config", "scale=smoke", "sclae=smoke", check=False)
    assert done.returncode != 0
    assert "unknown key 'sclae'" in done.stdout + done.stderr
    assert {p: p.stat().st_mtime for p in (after / "results").rglob("*.*")} == before


@pytest.mark.parametrize(
    ("paper", "first", "shared_by", "figure"),
    [
        ("fedsplit", "fig1", ["fig1"], "fig1"),
        ("fedhybrid", "setup2", ["setup2"], "fig1"),
        ("shed", "fmnist_iid", ["centred_iid", "centred_skew", "fmnist_iid", "fmnist_skew"], "fig8"),
    ],
)
def test_an_algorithm_of_ones_own_is_one_file_and_one_line(after, paper, first, shared_by, figure):
    (after / "src/fedrepro/algorithms/mine.py").write_text(
        '"""Mine."""\n\nfrom fedrepro.algorithms import algorithm\n\n\n@algorithm(needs={"gradient"})\n'
        "def mine(clients, *, step=0.001):\n    x = clients.start\n    while True:\n        clients.receive(x)\n"
        "        x = x - step * clients.average(clients.gradients(x))\n        yield x\n"
    )
    path = after / f"config/papers/{paper}.yaml"
    before, rest = path.read_text().split("\nexperiments:\n")
    above, below = rest.split(f"  {first}:", 1)
    below = below.replace("    algorithms:\n", "    algorithms:\n      mine: {}\n", 1)
    path.write_text(f"{before}\nexperiments:\n{above}  {first}:{below}")
    traces = [f"{paper}_{experiment}/mine.parquet" for experiment in shared_by]
    assert blocks(pending(after)) == traces
    snakemake(after, "--cores", "2", f"{paper}_{figure}", *SMOKE)
    rows = trace.read(after / f"results/smoke/traces/{paper}_{first}/mine.parquet")
    assert set(rows.algorithm) == {"mine"}
    assert b"mine" in (after / f"results/smoke/figures/{paper}/{figure}.svg").read_bytes()


def test_a_diverging_cell_does_not_stop_the_others(after):
    path = after / "config/papers/fedsplit.yaml"
    path.write_text(
        path.read_text().replace("grid: [0.03/L*, 0.1/L*, 0.3/L*, 1/L*, 1.9/L*]", "grid: [0.03/L*, 9000/L*]")
    )
    snakemake(after, "--cores", "2", "fedsplit_fig1_steps", *SMOKE)
    rows = trace.read(after / "results/smoke/traces/fedsplit_fig1_steps/fedgd.parquet")
    assert set(rows[rows.p_step == "9000/L*"].status) == {"diverged"}
    assert set(rows[rows.p_step == "0.03/L*"].status) == {"done"}


def test_snakemake_report(finished, tmp_path):
    target = tmp_path / "report.zip"
    snakemake(finished, "--report", str(target), *SMOKE)
    names = zipfile.ZipFile(target).namelist()
    assert any(name.endswith("fig1.svg") for name in names)


def test_solver_jobs_stay_light(finished, tmp_path):
    """No solver job imports pandas, matplotlib, sklearn or nilearn."""
    config = load({"scale": "smoke"}, finished)
    block = config.papers["fedsplit"].experiment_blocks("fedsplit_fig1")[0]
    probe = (
        "import runpy, sys\nrunpy.run_path('workflow/scripts/run_block.py')\n"
        "heavy = [m for m in ('pandas', 'matplotlib', 'sklearn', 'nilearn') if m in sys.modules]\nassert not heavy, heavy\n"
    )
    words = [
        f"log={tmp_path}/log", f"output={tmp_path}/t.parquet", f"block={block.to_json()}", "partition=",
        "reference=results/smoke/reference/fedsplit_fig1.npz", "key=probe",
    ]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(finished / "src")}
    subprocess.run([sys.executable, "-c", probe, *words], cwd=finished, env=environment, check=True)
