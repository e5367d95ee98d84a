"""Two runs at once in one folder: the second is refused in a sentence; the lock dies with its process."""

import os
import signal
import subprocess
import sys

import pytest
from fault_runs import FIGURE, SMOKE, run, said, started, wait_for

from fedrepro.pipeline.start import Busy, hold
from project_copy import environment

pytestmark = [pytest.mark.workflow, pytest.mark.faults]  # long: `make test-faults`


def test_a_second_run_is_refused_and_looking_is_not(project, tally):
    lock = project / ".snakemake/fedrepro.lock"
    with started(project, "--cores", "1", "fedsplit", *SMOKE) as running:  # a paper: long enough to look at
        assert wait_for(lambda: lock.exists() and lock.read_text(), running), said(project).read_text()
        second = run(project, "--cores", "1", FIGURE, *SMOKE, check=False)
        dry = run(project, "-n", FIGURE, *SMOKE, check=False)
        assert running.poll() is None, "the first run ended too soon to tell"
        assert second.returncode != 0
        assert f"Another run, process {running.pid}, is at work in {project}" in second.stderr
        assert "Traceback" not in second.stderr
        assert dry.returncode == 0 and lock.read_text() == f"{running.pid}\n"
        os.kill(running.pid, signal.SIGKILL)  # Snakemake alone: its jobs may still end
    run(project, "--cores", "1", FIGURE, *SMOKE)
    tally.add("two runs at once", True, "`Another run, process …, is at work in …`")
    tally.add("SIGKILL of Snakemake alone", True, "the same command goes on")


def test_the_lock_is_free_once_its_holder_is_gone(tmp_path):
    path = tmp_path / "deep/lock"
    child = os.fork()
    if child == 0:
        hold(path)
        os._exit(0)
    os.waitpid(child, 0)
    handle = hold(path)
    with pytest.raises(Busy, match=f"process {os.getpid()},"):
        hold(path)
    os.close(handle)
    os.close(hold(path))


def test_resume_is_the_same_command(after):
    project = after
    for path in (project / "results/smoke/figures").rglob("*.svg"):
        path.unlink()
    words = [sys.executable, "-m", "fedrepro.cli", "--scale", "smoke", "resume", "--cores", "1", FIGURE]
    circumstances = environment(project) | {"HOME": "/proc/nowhere"}  # nobody can write there
    done = subprocess.run(words, cwd=project, env=circumstances, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "blocks have run at scale smoke" in done.stdout
    assert (project / "results/smoke/figures/fedsplit/fig1.svg").exists()
