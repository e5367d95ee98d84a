"""Before the first job of a run: nobody else is at work in this folder, and no file that will be read is cut short.

Snakemake's own lock is a set of files that outlives a killed run and then has to be removed by hand; the profiles turn
it off (`nolock`) and the one taken here dies with its process, so that the same command resumes whatever happened to the
last one. Dry runs, lists and reports never come here.
"""

import fcntl
import os
from pathlib import Path

from fedrepro.datasets.files import check_whole, sweep


class Busy(Exception):
    """Another run is at work in this folder."""


def begin(dag) -> None:
    """Take the lock, then look at what Snakemake's DAG is about to read: it removes a job's outputs before the job can look
    at its inputs, so that a bad input would cost good results."""
    hold()
    sweep("data", "results")
    jobs = list(dag.needrun_jobs())
    made = {file for job in jobs for file in job.output}
    check_whole(sorted({file for job in jobs for file in job.input} - made))


def hold(path: str | Path = ".snakemake/fedrepro.lock") -> int:
    """Take the lock for the life of this process; the descriptor is not handed on to the jobs it starts."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.read(handle, 20).decode().strip() or "unknown"
        os.close(handle)
        raise Busy(
            f"Another run, process {owner}, is at work in {Path.cwd()}: wait for it, or end it with `kill {owner}`."
        ) from None
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle
