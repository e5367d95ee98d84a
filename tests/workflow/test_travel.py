"""Results that travel: packed in one folder, they are current in another, and whoever comes with other code is told."""

import json
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from dry_runs import append, blocks, pending, rules
from project_copy import environment

pytestmark = pytest.mark.workflow
FIGURE = "fedsplit_fig1"
BLOCK = "traces/fedsplit_fig1/fedgd.parquet"


def fedrepro(project, *words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "fedrepro.cli", *map(str, words)]
    return subprocess.run(command, cwd=project, env=environment(project), capture_output=True, text=True)


@pytest.fixture(scope="module")
def packed(finished, tmp_path_factory):
    archive = tmp_path_factory.mktemp("packed") / "results.zip"
    done = fedrepro(finished, "pack", "results/smoke", "-o", archive)
    assert done.returncode == 0, done.stderr
    return archive


@pytest.fixture
def elsewhere(finished, project):
    """Another clone that has the data."""
    if (finished / "data").exists():
        (project / "data").symlink_to(finished / "data")
    return project


def changed(packed, target, change):
    """The archive with some of its files replaced."""
    with zipfile.ZipFile(packed) as source, zipfile.ZipFile(target, "w") as out:
        files = change({name: source.read(name) for name in source.namelist()})
        for name, content in files.items():
            out.writestr(name, content)
    return target


def test_installed_results_are_current_and_a_change_runs_only_what_it_concerns(packed, elsewhere):
    done = fedrepro(elsewhere, "unpack", packed)
    assert done.returncode == 0, done.stderr
    assert "left out" not in done.stdout
    assert rules(pending(elsewhere, FIGURE)) == {"figure"}, "drawn from the traces that came"
    append(elsewhere / "src/fedrepro/algorithms/fedgd.py")
    assert blocks(pending(elsewhere, FIGURE)) == ["fedsplit_fig1/fedgd.parquet"]


def test_the_archive_has_no_data_and_is_the_same_twice(packed, finished, tmp_path):
    again = tmp_path / "again.zip"
    fedrepro(finished, "pack", "results/smoke", "-o", again)
    assert again.read_bytes() == packed.read_bytes()
    with zipfile.ZipFile(packed) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert BLOCK in manifest["files"]
        assert set(archive.namelist()) == {*manifest["files"], "manifest.json"}
        assert {name.split("/")[0] for name in manifest["files"]} <= {
            "traces",
            "reference",
            "tables",
            "figures",
            "logs",
        }
    assert set(manifest["provenance"]) == set(manifest["claims"])
    assert all({"commit", "made_by", "data"} <= set(made) for made in manifest["provenance"].values())


def test_what_other_code_made_is_left_out(packed, elsewhere):
    append(elsewhere / "src/fedrepro/algorithms/fedgd.py")
    done = fedrepro(elsewhere, "unpack", packed)
    assert done.returncode == 0 and "left out" in done.stdout
    assert not (elsewhere / "results/smoke" / BLOCK).exists()
    assert (elsewhere / "results/smoke/traces/fedsplit_fig1/fedsplit.parquet").exists()


def test_what_was_here_and_current_stays(packed, elsewhere):
    fedrepro(elsewhere, "unpack", packed)
    before = (elsewhere / "results/smoke" / BLOCK).read_bytes()
    done = fedrepro(elsewhere, "unpack", packed)
    assert " 0 files installed" in done.stdout
    assert (elsewhere / "results/smoke" / BLOCK).read_bytes() == before


@pytest.mark.parametrize("fault", ["cut", "flipped", "strange", "outside", "empty", "missing"])
def test_a_bad_archive_is_refused_in_a_sentence_and_nothing_is_installed(fault, packed, elsewhere, tmp_path):
    bad = tmp_path / "bad.zip"
    if fault == "cut":
        bad.write_bytes(packed.read_bytes()[:-2000])
    elif fault == "flipped":
        changed(packed, bad, lambda files: files | {BLOCK: files[BLOCK][:-1] + b"?"})
    elif fault == "strange":
        changed(packed, bad, lambda files: files | {"manifest.json": b'{"format": 3}'})
    elif fault == "outside":
        changed(packed, bad, outside)
    elif fault == "empty":
        bad.write_bytes(b"")
    done = fedrepro(elsewhere, "unpack", bad)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and "bad.zip" in done.stderr
    assert not (elsewhere / "results/smoke" / BLOCK).exists()
    assert not (elsewhere / "results/escaped").exists()


def outside(files: dict[str, bytes]) -> dict[str, bytes]:
    manifest = json.loads(files["manifest.json"])
    name = "../escaped"
    manifest["files"][name] = manifest["files"][BLOCK]
    return files | {name: files[BLOCK], "manifest.json": json.dumps(manifest).encode()}


def test_results_of_other_data_are_left_out(packed, finished, elsewhere):
    """A dataset that is decoded here and is not the one the traces were made from."""
    metas = sorted((finished / "data/decoded").glob("*/meta.json"))
    if not metas:
        pytest.skip("nothing was decoded")
    (elsewhere / "data").unlink()
    shutil.copytree(finished / "data", elsewhere / "data", copy_function=os.link)
    used = json.loads(zipfile.ZipFile(packed).read("manifest.json"))["files"]
    meta = elsewhere / "data/decoded/fmnist/meta.json"
    facts = json.loads(meta.read_text()) | {"checksum": "0" * 64}
    meta.unlink()
    meta.write_text(json.dumps(facts))
    done = fedrepro(elsewhere, "unpack", packed)
    assert done.returncode == 0 and "left out" in done.stdout
    left = [name for name in used if not (elsewhere / "results/smoke" / name).exists()]
    assert any("fig2" in name or "fmnist" in name for name in left)
    assert (elsewhere / "results/smoke" / BLOCK).exists()
