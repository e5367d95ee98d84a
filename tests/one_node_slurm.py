"""A Slurm of one node on this machine: three daemons of Debian's packages, in a folder of their own, on 127.0.0.1."""

import contextlib
import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fedrepro.pipeline.config import ROOT

SNAKEMAKE = ROOT / ".venv-slurm/bin/python", "-m", "snakemake"
DAEMONS = ("munged", "slurmctld", "slurmd")
CORES = len(os.sched_getaffinity(0))
# No accounting: finished jobs are remembered for an hour instead. The node claims more memory than it may have, so that
# what jobs ask for is never refused here.
SETTINGS = f"""
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={{ports[0]}}
SlurmdPort={{ports[1]}}
SlurmUser={{user}}
SlurmdUser={{user}}
AuthType=auth/munge
AuthInfo=socket={{folder}}/munged.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
MinJobAge=3600
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=2
StateSaveLocation={{folder}}/state
SlurmdSpoolDir={{folder}}/spool
SlurmctldPidFile={{folder}}/slurmctld.pid
SlurmdPidFile={{folder}}/slurmd.pid
SlurmctldLogFile={{folder}}/slurmctld.log
SlurmdLogFile={{folder}}/slurmd.log
NodeName=localhost NodeAddr=127.0.0.1 CPUs={CORES} RealMemory=1000000 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def needed() -> None:
    """Skip where Slurm or the environment with its executor could not be installed, or its daemons may not run."""
    if os.geteuid():
        pytest.skip("Slurm's daemons need root; nothing was run through Slurm")
    missing = [name for name in (*DAEMONS, "sbatch", str(SNAKEMAKE[0])) if not found(name)]
    if missing:
        pytest.skip(
            f"{', '.join(missing)}: not there (`make slurm` installs it); nothing was run through Slurm"
        )


def found(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


@contextlib.contextmanager
def cluster() -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands find it. Its jobs and daemons end with the context."""
    # Not pytest's folder: the name of a socket has room for some hundred letters only.
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        folder = Path(name)
        known = os.environ | {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        }
        ports = free_ports(2)
        (folder / "slurm.conf").write_text(
            SETTINGS.format(folder=folder, ports=ports, user=getpass.getuser())
        )
        (folder / "munge.key").write_bytes(secrets.token_bytes(128))
        (folder / "munge.key").chmod(0o600)
        for part in ("state", "spool", "bin"):
            (folder / part).mkdir()
        # The executor clears Slurm's variables before it calls srun, which would then look in /etc.
        srun = folder / "bin/srun"
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {found("srun")} "$@"\n')
        srun.chmod(0o755)
        try:
            places = {"socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
            words = [f"--{option}={folder}/munged.{kind}" for option, kind in places.items()]
            start("munged", "--force", f"--key-file={folder}/munge.key", *words, env=known)
            for daemon in ("slurmctld", "slurmd"):
                more = ("-N", "localhost") if daemon == "slurmd" else ("-c",)
                start(daemon, "-f", str(folder / "slurm.conf"), *more, env=known)
            wait_for_node(known, folder)
            yield known
        finally:
            ended = ["scancel", "--full", "--signal=KILL", "--user", getpass.getuser()]
            subprocess.run(ended, env=known, timeout=30)
            wait_until(lambda: not jobs(known, "--states=running,completing"), 20)
            for daemon in reversed(DAEMONS):
                stop(folder / f"{daemon}.pid")


def start(daemon: str, *words: str, env: dict[str, str]) -> None:
    """It goes into the background by itself."""
    done = subprocess.run(
        [found(daemon), *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60
    )
    if done.returncode:
        pytest.skip(f"{daemon} cannot be started here, nothing was run through Slurm: {done.stdout.decode()}")


def stop(pid_file: Path) -> None:
    """End a daemon that was started here, by the number it wrote down."""
    if pid_file.exists():
        pid = int(pid_file.read_text())
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            if wait_until(lambda: not Path(f"/proc/{pid}").exists(), 10):
                return


def wait_for_node(known: dict[str, str], folder: Path) -> None:
    asked = ["sinfo", "--noheader", "--format=%T"]

    def idle() -> bool:
        return "idle" in subprocess.run(asked, env=known, capture_output=True, text=True).stdout

    if not wait_until(idle, 60):
        logs = {path.name: path.read_text()[-2000:] for path in folder.glob("*.log")}
        pytest.skip(f"Slurm's node does not come up here, nothing was run through it: {logs}")


def wait_until(condition, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def jobs(known: dict[str, str], *words: str) -> list[dict[str, str]]:
    """What the queue remembers: number, state, the rule in the comment, the memory asked for."""
    columns = {"id": "%i", "state": "%T", "comment": "%k", "memory": "%m"}
    asked = ["squeue", "--noheader", f"--format={'|'.join(columns.values())}", *words]
    done = subprocess.run(asked, env=known, capture_output=True, text=True, timeout=60)
    return [dict(zip(columns, line.split("|"), strict=True)) for line in done.stdout.splitlines()]
