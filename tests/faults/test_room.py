"""No room, no permission, no home: one sentence, and what was there before stays."""

import os
import resource
import shutil
import signal
import subprocess
import sys

import pytest
from bits import differences, digests
from fault_runs import FIGURE, SMOKE, run

pytestmark = [pytest.mark.workflow, pytest.mark.faults]  # long: `make test-faults`


def small_files(limit: int):
    """Nothing longer than this can be written: what a full disk does, on any machine."""

    def apply():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return apply


def test_a_full_disk_costs_no_good_file_and_the_next_run_finishes(finished, project, tally):
    done = run(project, "--cores", "1", FIGURE, *SMOKE, check=False, preexec_fn=small_files(30_000))
    assert done.returncode != 0
    assert "cannot be written (File too large); make room and run the same command again" in done.stderr
    kept = digests(project / "results/smoke")
    assert kept and not any("/." in name for name in kept)
    run(project, "--cores", "1", FIGURE, *SMOKE)
    assert differences(finished / "results/smoke", project / "results/smoke", part=True) == []
    tally.add("a full disk", True, "`… cannot be written (…); make room and run the same command again`")


def bound() -> tuple[str, ...]:
    """What to start a command with so that permissions apply to it: root has to give up the right to pass them by."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root, and no setpriv to give up its rights with")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


def test_a_results_folder_that_cannot_be_written(after, tally):
    project = after
    before = digests(project / "results/smoke")
    (project / "results").chmod(0o555)
    try:
        done = run(project, "--cores", "1", FIGURE, *SMOKE, check=False, first=bound())
    finally:
        (project / "results").chmod(0o755)
    assert done.returncode != 0 and "results: not writable; change its permissions" in done.stderr
    assert "Traceback" not in done.stderr and digests(project / "results/smoke") == before
    tally.add(
        "a results folder that cannot be written", True, "`results: not writable; change its permissions …`"
    )


def test_a_home_that_cannot_be_written(after, tally):
    project = after
    shutil.rmtree(project / "results/smoke/figures")
    home = {
        "HOME": "/proc/nowhere",
        "XDG_CACHE_HOME": str(project / "cache"),
    }  # Snakemake itself wants a cache
    run(project, "--cores", "1", FIGURE, *SMOKE, circumstances=home, first=bound())
    assert (project / "results/smoke/figures/fedsplit/fig1.png").exists()
    tally.add("a home that cannot be written", True, "nothing; plain Snakemake wants `XDG_CACHE_HOME` set")


def test_compiled_loops_are_kept_elsewhere_where_the_usual_folder_cannot_be_written(tmp_path):
    words = (
        "import numpy as np; from numba import config; from fedrepro.maths.kernels import scatter; w = np.zeros(3);"
        "scatter.add(w, np.array([0, 2]), np.ones(2), np.zeros(3, int)); print(w, config.CACHE_DIR)"
    )
    circumstances = os.environ | {
        "NUMBA_CACHE_DIR": "/proc/nowhere",
        "TMPDIR": str(tmp_path),
        "HOME": "/proc/nowhere",
    }
    done = subprocess.run([sys.executable, "-c", words], env=circumstances, capture_output=True, text=True)
    assert done.stdout.startswith(f"[1. 0. 1.] {tmp_path}/fedrepro-"), done.stderr
    assert list(tmp_path.rglob("*.nbc"))
