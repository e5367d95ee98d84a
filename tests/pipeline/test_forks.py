"""Jobs as forks of one process, and what they cost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fedrepro.pipeline import forks

FORK = Path(__file__).resolve().parents[2] / "workflow/scripts/fork.py"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The environment in which jobs ask it."""
    before = os.environ.get(forks.SOCKET)
    forks.start(tmp_path_factory.mktemp("f"), {})
    process, place = forks.running.pop(), os.environ.pop(forks.SOCKET)
    if before is not None:
        os.environ[forks.SOCKET] = before
    yield os.environ | {forks.SOCKET: place}
    process.stdin.close()
    assert process.wait(20) == 0
    assert not Path(place).exists()


def job(folder: Path, source: str, environment: dict) -> subprocess.CompletedProcess:
    (folder / "script.py").write_text(source)
    words = [sys.executable, "-IS", str(FORK), "script.py", "log=of.log", "word=blank and ü"]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


ECHO = """
import os, sys
open("of.log", "w").close()
print(sys.argv[2], os.environ["MINE"], "numba" in sys.modules)
print("aside", file=sys.stderr)
sum(range(3_000_000))
"""


def test_a_fork_is_what_the_process_would_have_been(server, tmp_path):
    done = job(tmp_path, ECHO, server | {"MINE": "here"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "word=blank and ü here True\n", "aside\n")
    alone = job(tmp_path, ECHO, os.environ | {"MINE": "here", forks.SOCKET: "off"})
    assert (alone.returncode, alone.stdout) == (0, "word=blank and ü here False\n")


@pytest.mark.parametrize("place", ["forks", "off"])
def test_a_job_leaves_what_it_cost_beside_its_log(server, tmp_path, place):
    job(tmp_path, ECHO, server | {"MINE": ""} | ({} if place == "forks" else {forks.SOCKET: "off"}))
    wall, cpu, memory = map(float, (tmp_path / "of.cost").read_text().split())
    assert wall > 0 and 0 < cpu < 10 and 5 < memory < 2000


@pytest.mark.parametrize(
    ("source", "code"), [("raise SystemExit('no')", 1), ("import sys; sys.exit(7)", 7), ("1 / 0", 1)]
)
@pytest.mark.parametrize("place", ["forks", "off"])
def test_a_failure_is_the_callers(server, tmp_path, place, source, code):
    given = server if place == "forks" else server | {forks.SOCKET: "off"}
    assert job(tmp_path, source, given).returncode == code
    assert not (tmp_path / "of.cost").exists()


@pytest.mark.parametrize("place", ["forks", "off"])
def test_a_job_ends_with_its_caller(server, tmp_path, place):
    (tmp_path / "script.py").write_text(
        "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(60)"
    )
    given = server if place == "forks" else server | {forks.SOCKET: "off"}
    caller = subprocess.Popen([sys.executable, "-IS", str(FORK), "script.py"], cwd=tmp_path, env=given)
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    worker = int((tmp_path / "pid").read_text())
    caller.send_signal(signal.SIGTERM)
    caller.wait(20)
    until(lambda: not alive(worker))


def until(happened) -> None:
    end = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
