"""Snakemake in a copy of the project: to its end, up to a kill, or under other circumstances."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from project_copy import environment

SMOKE = ("--config", "scale=smoke")
FIGURE = "fedsplit_fig1"
COMMAND = (sys.executable, "-m", "snakemake")
# What must not change a bit.
THREADS = {
    "OMP_NUM_THREADS": "4",
    "OPENBLAS_NUM_THREADS": "3",
    "MKL_NUM_THREADS": "2",
    "NUMBA_NUM_THREADS": "2",
}
PLACE = {"PYTHONHASHSEED": "77", "LC_ALL": "C", "LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}


def run(project: Path, *words: str, check=True, circumstances: dict | None = None, first: tuple = (), **more):
    """The plain command, as the documents have it, under other circumstances or started by another (`first`)."""
    done = subprocess.run(
        [*first, *COMMAND, *words],
        cwd=project,
        env=environment(project) | (circumstances or {}),
        capture_output=True,
        text=True,
        **more,
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr[-8000:]
    if check and done.returncode:
        pytest.fail(f"snakemake {' '.join(words)}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}")
    return done


def started(project: Path, *words: str, circumstances: dict | None = None) -> subprocess.Popen:
    """The same in the background, in a process group of its own; what it says goes to `said`."""
    with said(project).open("w") as out:
        return subprocess.Popen(
            [*COMMAND, *words],
            cwd=project,
            env=environment(project) | (circumstances or {}),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def said(project: Path) -> Path:
    return project.parent / "said.txt"


def wait_for(condition, running: subprocess.Popen, seconds: float = 600.0) -> bool:
    """Whether it came true before the run ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and running.poll() is None:
        if condition():
            return True
        time.sleep(0.05)
    return False


def killed(
    project: Path, *words: str, after_jobs: int, then: float, circumstances: dict | None = None
) -> bool:
    """Start the run, and kill all its processes `then` seconds after so many jobs have ended; False if it ended before."""
    with started(project, *words, circumstances=circumstances) as running:
        if after_jobs:
            wait_for(lambda: said(project).read_text().count("\nFinished jobid") >= after_jobs, running)
        wait_for(lambda: False, running, then)
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            return True
    return False


def moments(chance: random.Random, kills: int, jobs: int) -> Iterator[tuple[int, float]]:
    """When to kill, so that a run of so many jobs is not quite over after so many kills: (jobs that have ended, seconds
    after that), a third of them while it still starts."""
    for _ in range(kills):
        begun = chance.random() < 2 / 3
        yield (
            (chance.randint(1, 2 * jobs // kills), chance.uniform(0, 1.5))
            if begun
            else (0, chance.uniform(0, 6))
        )


def elsewhere(
    chance: random.Random, caches: Path, targets: list[str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Words and circumstances that must not change a bit: cores, threads, order of jobs, compiled loops kept or not, jobs
    forked or started, locale, time zone and hash seed."""
    words = ("--cores", chance.choice("12"), *SMOKE, "--prioritize", *chance.sample(targets, 8))
    known = chance.choice((THREADS, {})) | chance.choice((PLACE, {}))
    known |= {"PYTHONHASHSEED": str(chance.randrange(1000))}
    if chance.random() < 1 / 5:
        known["NUMBA_CACHE_DIR"] = str(caches / str(chance.random()))
    return words, known | ({"FEDREPRO_FORKS": "off"} if chance.random() < 1 / 8 else {})
