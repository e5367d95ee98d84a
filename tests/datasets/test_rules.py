"""The data rules in a real run of Snakemake over three small datasets, in a project of their own."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from test_worlds import COVER, CUT, IMAGES, NAMES, NEWS, catalogue, zipped

from fedrepro.datasets import partition
from fedrepro.pipeline.config import ROOT

pytestmark = pytest.mark.workflow

PAPER = """
paper: toy
title: Toy
authors: Nobody
year: 2026
experiments:
  any:
    about: A paper has one
    problem: fedsplit.gaussian_least_squares
    measures: [gap]
    stop: { rounds: { value: 1, source: here } }
    algorithms:
      fedgd: {}
figures: {}
claims: {}
partitions:
  skewed:
    dataset: pics
    scheme: label_skew
    source: here
    parameters:
      clients: { value: 2, source: here }
      size: { value: 4, source: here }
      target: { value: 1, source: here }
      rest: { value: one, source: here }
  grid_of_news:
    dataset: news
    scheme: hybrid
    source: here
    parameters:
      clients: { value: 3x2@1, source: here, smoke: 2x2@1 }
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with the real rules and library, its own configuration, and a mirror that has all but one
    zip."""
    root = tmp_path_factory.mktemp("project")
    (root / "config/papers").mkdir(parents=True)
    top = yaml.safe_load((ROOT / "config/config.yaml").read_text()) | {"papers": ["toy"], "scale": "smoke"}
    (root / "config/config.yaml").write_text(yaml.safe_dump(top))
    (root / "config/papers/toy.yaml").write_text(PAPER)
    declared = catalogue("http://127.0.0.1:9")
    declared["datasets"]["pics"]["pca"] = 5
    (root / "datasets.yaml").write_text(yaml.safe_dump(declared))
    for name, body in [
        *zip(NAMES, IMAGES, strict=True),
        ("cover/covtype.data", COVER),
        ("news/some.csv", CUT),
    ]:
        (root / "mirror" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "mirror" / name).write_bytes(body)
    (root / "workflow").symlink_to(ROOT / "workflow")
    (root / "Snakefile").write_text(
        "from types import SimpleNamespace\n"
        "from fedrepro.pipeline import config as fedconfig\n"
        "from fedrepro.pipeline.data_plan import DataPlan\n"
        "from fedrepro.pipeline.requests import request\n"
        "CONFIG = fedconfig.load(dict(config))\n"
        "from fedrepro.pipeline.code import code_hash\n"
        "code = lambda script: code_hash(f'workflow/scripts/{script}.py')\n"
        "PLAN = SimpleNamespace(datasets=DataPlan(CONFIG), code=code)\n"
        'RESULTS = f"results/{CONFIG.scale}"\n'
        'ENVIRONMENT = "../../envs/environment.yaml"\n'
        'include: "workflow/rules/data.smk"\n'
    )
    return root


def snakemake(root: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FEDREPRO")} | {
        "FEDREPRO_MIRROR": str(root / "mirror"),
        "FEDREPRO_DATASETS": str(root / "datasets.yaml"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]),
    }
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)


def planned(root: Path, *arguments: str) -> set[str]:
    """The outputs a dry run would make."""
    done = snakemake(root, "--dry-run", "--quiet", "rules", "--summary", *arguments)
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    return {line[0] for line in lines if line[-1] == "update pending"}


def test_from_nothing_to_the_table_and_what_makes_it_run_again(project):
    done = snakemake(project, "data")
    assert done.returncode == 0, done.stderr
    text = done.stdout + done.stderr
    assert "Not the papers' own data: news (News (9 rows))." in text and "data/raw" in text

    with (project / "results/datasets.csv").open() as file:
        rows = {row["dataset"]: row for row in csv.DictReader(file)}
    assert {name: row["origin"] for name, row in rows.items()} == {
        "pics": "mirror", "cover": "mirror", "news": "relative"
    }  # fmt: skip
    assert (
        rows["pics"]["rows"] == "80" and rows["pics"]["columns"] == "784" and rows["pics"]["classes"] == "10"
    )
    assert len(rows["cover"]["checksum"]) == 64 and rows["cover"]["licence"] == "none"
    assert int(rows["cover"]["bytes"]) == 70 * 54 * 2 + 70

    clients = partition.read(project / "data/parts/smoke/toy/grid_of_news.npz", 1)
    assert len(clients) == 4 and clients.origin == "relative"  # 2 x 2 blocks at scale smoke
    skewed = partition.read(project / "data/parts/smoke/toy/skewed.npz", 0)
    assert [len(rows) for rows in skewed.rows] == [4, 4]
    with np.load(project / "data/decoded/pics/pca_centred.npz") as file:
        assert file["basis"].shape == (784, 5)
    for name in ("toy_skewed", "toy_grid_of_news"):
        for kind in ("svg", "png"):
            assert (project / f"results/smoke/figures/partitions/{name}.{kind}").stat().st_size > 5000

    # A second run has nothing to do, nor has one that may download less; another policy, another declaration or a
    # file put there by hand have.
    assert planned(project, "data") == set()
    assert planned(project, "data", "--config", "download_limit_mb=0.000001") == set()
    decoded = {f"data/decoded/{name}/meta.json" for name in ("pics", "cover", "news")}
    assert decoded <= planned(project, "data", "--config", "data=standin")
    (project / "data/raw/news").mkdir(parents=True)
    (project / "data/raw/news/all.zip").write_bytes(zipped({"OnlineNewsPopularity.csv": NEWS}))
    declared = yaml.safe_load((project / "datasets.yaml").read_text())
    declared["datasets"]["cover"]["title"] = "Covers"
    (project / "datasets.yaml").write_text(yaml.safe_dump(declared))
    assert planned(project, "data") & decoded == {
        "data/decoded/news/meta.json",
        "data/decoded/cover/meta.json",
    }


def test_real_fails_with_the_whole_reason_and_the_others_go_on(project):
    """`--keep-going` as in the profile: news cannot be had, cover is decoded all the same."""
    shutil.rmtree(project / "data", ignore_errors=True)
    wanted = [f"data/decoded/{name}/meta.json" for name in ("news", "cover")]
    done = snakemake(project, "--keep-going", "--config", "data=real", "--", *wanted)
    assert done.returncode != 0
    assert [Path(project / path).exists() for path in wanted] == [False, True]
    for word in ("http://127.0.0.1:9/news.zip", "data/raw/news/all.zip", "expected"):
        assert word in done.stderr and word in (project / "results/logs/data/news.log").read_text()
