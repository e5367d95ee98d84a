"""A finished run, made by hand, as a Workflow Run RO-Crate."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

import crates
from fedrepro import cli
from fedrepro.experiments import reference, trace
from fedrepro.pipeline.config import ROOT
from fedrepro.pipeline.plan import Plan

NEEDED = ("config", "workflow", "notebooks", "envs", "CITATION.cff")
RAW, DECODED = "1" * 64, "2" * 64  # checksums
BEGIN, END = "2026-01-02T03:04:05+00:00", "2026-01-02T04:00:00+00:00"
VALIDATOR = ROOT / ".venv/validator/bin/python"


def put(path: str, text: str = "made") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def choose(*papers: str) -> None:
    path = Path("config/config.yaml")
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"papers": list(papers)}))


def make_run() -> None:
    """All that a run of fedsplit at scale smoke leaves behind, with nothing in it."""
    meta = {
        "title": "Digits",
        "origin": "relative",
        "rows": 5,
        "columns": 2,
        "checksum": DECODED,
        "licence": "BSD",
    }
    put(
        "data/decoded/femnist/meta.json", json.dumps(meta | {"files": [{"file": "digits.gz", "sha256": RAW}]})
    )
    plan = Plan({"scale": "smoke"})
    plan.expect()
    packages = json.dumps({"numpy": "2.4.0", "snakemake": "9.27.1"})
    footer = {"data_checksums": DECODED, "python": "3.11.7", "packages": packages, "commit": "abc"}
    for block in plan.config.blocks:
        facts = footer | {"key": plan.block_key(block)}
        trace.write(plan.trace(block), [pa.table({"round": [0]})], facts)
    for name, experiment in plan.experiments.items():
        reference.save(plan.reference(name), {}, plan.reference_key(experiment))
    put(f"{plan.results}/figures/claims/fedsplit/S1.svg")
    for path in plan.paper_files("fedsplit"):  # after what they are made of
        if not Path(path).exists():
            put(path, f"made for {path}")
    for name in ("claims.csv", "evidence.parquet", "report/index.html"):
        put(f"{plan.results}/{name}")
    for name, seconds, end in (
        ("reference/fedsplit_fig1", 55, "03:05:00"),
        ("claims/fedsplit", 1, "04:00:00"),
    ):
        put(f"{plan.results}/logs/{name}.cost", f"{seconds} 1 100\n")
        time = datetime.fromisoformat(f"2026-01-02T{end}+00:00").timestamp()
        os.utime(f"{plan.results}/logs/{name}.cost", (time, time))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with a run."""
    folder = tmp_path_factory.mktemp("project")
    for name in NEEDED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("results").mkdir()
        choose("fedsplit")
        make_run()
    return folder


@pytest.fixture
def here(project, monkeypatch):
    """The same, as the folder one is in, with the package that writes crates."""
    pytest.importorskip("rocrate", reason="`make tools` installs it")
    monkeypatch.chdir(project)
    choose("fedsplit")
    return project


def test_a_run_becomes_a_crate_that_has_all_the_profiles_require(here):
    assert cli.main(["crate", "results/smoke"]) == 0
    entities = crates.check(here / "crate-smoke.zip")
    results = crates.named(entities["#run-fedsplit"]["result"])
    for name in ("figures/fedsplit/fig1.svg", "tables/fedsplit_claims.csv", "tables/fedsplit_slips.csv"):
        assert f"results/smoke/{name}" in results
    assert set(results) < set(crates.named(entities["#run"]["result"]))
    assert "results/smoke/claims.csv" in crates.named(entities["#run"]["result"])
    assert (entities["#run"]["startTime"], entities["#run"]["endTime"]) == (BEGIN, END)
    inputs = crates.named(entities["#run-fedsplit"]["object"])
    assert {"config/papers/fedsplit.yaml", "#data-femnist"} <= set(inputs)
    data = entities["#data-femnist"]
    assert data["sha256"] == DECODED and entities[data["hasPart"][0]["@id"]]["sha256"] == RAW
    assert entities["#software-fedrepro"]["softwareVersion"] == "commit abc"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    authors = [entities[name]["name"] for name in crates.named(entities["./"]["author"])]
    assert authors == [author["name"] for author in citation["authors"]]


def validated(path: Path) -> subprocess.CompletedProcess:
    command = [VALIDATOR, ROOT / "tests/crate_validator.py", path]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_validator_misses_nothing_that_is_required(here, tmp_path):
    if not VALIDATOR.exists():
        pytest.skip("there is no validator; `make validator` installs one")
    path, broken = tmp_path / "crate.zip", tmp_path / "broken.zip"
    assert cli.main(["crate", "results/smoke", "--output", str(path)]) == 0
    done = validated(path)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(broken, "w") as other:
        for name in whole.namelist():
            other.writestr(name, whole.read(name).replace(b'"instrument"', b'"tool"'))
    done = validated(broken)
    assert done.returncode == 1 and "#run" in done.stdout, done.stdout + done.stderr


def test_a_paper_that_is_not_finished_is_left_out_and_said_to_be(here, tmp_path, capsys):
    choose("fedsplit", "shed")
    assert cli.main(["crate", "results/smoke", "--output", str(tmp_path / "crate.zip")]) == 0
    assert "left out: shed, " in capsys.readouterr().out
    entities = crates.check(tmp_path / "crate.zip")
    assert "#run-fedsplit" in entities and not {"#run", "#run-shed"} & set(entities)
    choose("shed")
    assert cli.main(["crate", "results/smoke", "--output", str(tmp_path / "none.zip")]) == 1
    assert "no finished paper: shed: " in capsys.readouterr().err and not (tmp_path / "none.zip").exists()


def test_a_folder_that_is_none_of_results_is_refused(here, capsys):
    assert cli.main(["crate", "config"]) == 1
    assert "name one like results/paper" in capsys.readouterr().err


def test_without_the_package_one_sentence_says_how_to_get_it(project, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(project)
    monkeypatch.setitem(sys.modules, "rocrate", None)
    assert cli.main(["crate", "results/smoke", "--output", str(tmp_path / "crate.zip")]) == 1
    assert capsys.readouterr().err.strip().endswith("install it with `make tools`")
    assert not (tmp_path / "crate.zip").exists()
