"""Run the real workflow in a copy of the project."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fedrepro.config import ROOT

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


def snakemake(project: Path, *words: str, check: bool = True, **more) -> subprocess.CompletedProcess:
    """Snakemake in the copy, with the copy's library, the mirror if there is one, and no network."""
    mirror = (ROOT / "../shared/data").resolve()
    environment = os.environ | {"PYTHONPATH": str(project / "src"), "FEDREPRO_OFFLINE": "1"}
    if mirror.is_dir():
        environment["FEDREPRO_MIRROR"] = str(mirror)
    command = [sys.executable, "-m", "snakemake", *words]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, **more)
    if check and done.returncode:
        pytest.fail(f"{' '.join(command)}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}")
    return done
