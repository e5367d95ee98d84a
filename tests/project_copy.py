"""Run the real workflow in a copy of the project."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fedrepro.pipeline.config import ROOT

PARTS = ("Snakefile", "config", "workflow", "profiles", "envs", "notebooks", "src")


def copy_project(target: Path) -> Path:
    target.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, target / part)
    (target / "results").mkdir()
    return target


def environment(project: Path) -> dict[str, str]:
    """With the copy's library, compiled loops shared by all copies, the mirror if there is one, and no network."""
    mirror = (ROOT / "../shared/data").resolve()
    compiled = os.environ.get("NUMBA_CACHE_DIR", str(ROOT / "src/fedrepro/maths/kernels/__pycache__"))
    known = os.environ | {
        "PYTHONPATH": str(project / "src"),
        "FEDREPRO_OFFLINE": "1",
        "NUMBA_CACHE_DIR": compiled,
    }
    return known | ({"FEDREPRO_MIRROR": str(mirror)} if mirror.is_dir() else {})


def snakemake(project: Path, *words: str, check: bool = True, **more) -> subprocess.CompletedProcess:
    """Snakemake in the copy."""
    command = [sys.executable, "-m", "snakemake", *words]
    done = subprocess.run(
        command, cwd=project, env=environment(project), capture_output=True, text=True, **more
    )
    if check and done.returncode:
        pytest.fail(f"{' '.join(command)}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}")
    return done
