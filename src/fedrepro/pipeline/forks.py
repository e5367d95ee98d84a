"""Jobs without start-up: one process imports the libraries once, and every job of a run is a fork of it.

Most jobs at small scales take less time than importing NumPy, SciPy, pandas and Matplotlib does. Snakemake's main process
starts this one when a run begins; a rule's `python workflow/scripts/….py` then asks it, through workflow/scripts/fork.py,
for a fork that does the work with the caller's arguments, environment, folder, standard output and error. Where nobody
answers (a cluster's node, another system than Linux), the script is started in the ordinary way. The results are the same
bits: a fork is what the process would have been after its imports.
"""

import array
import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback
from pathlib import Path

PR_SET_PDEATHSIG = 1  # of Linux's <sys/prctl.h>: the signal a process gets when its parent dies
SOCKET = "FEDREPRO_FORKS"  # the environment variable that tells jobs where to ask
MODULES = (
    "numpy", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "pyarrow.parquet", "pandas", "numba",
    "threadpoolctl", "matplotlib.pyplot", "matplotlib.backends.backend_svg", "matplotlib.backends.backend_pdf",
    "fedrepro.experiments.runner", "fedrepro.experiments.results", "fedrepro.reporting.figures", "fedrepro.reporting.claims",
)  # fmt: skip


running: list[subprocess.Popen] = []  # for the life of the run: its standard input must stay open


def start(folder: Path, settings: dict[str, str]) -> None:
    """Start the process, with some more environment, and tell jobs where it listens. It ends with the one that started it.
    FEDREPRO_FORKS=off in the environment, or a system without forks: jobs are started in the ordinary way."""
    if not sys.platform.startswith("linux") or os.environ.get(SOCKET) == "off":
        return
    path = str(folder.resolve() / f"forks-{os.getpid()}.sock")
    server = socket.socket(socket.AF_UNIX)
    try:
        server.bind(path)
    except OSError:  # a name too long for a socket, or a disk that has none
        return
    Path(path).chmod(0o600)
    server.listen(64)  # whoever asks from now on waits for the imports, as it would for its own
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    known = os.environ | settings | dict.fromkeys(threads, "1")
    words = [sys.executable, "-m", "fedrepro.pipeline.forks", path, str(server.fileno())]
    running.append(subprocess.Popen(words, stdin=subprocess.PIPE, env=known, pass_fds=[server.fileno()]))
    server.close()
    os.environ[SOCKET] = path


def serve(path: str, descriptor: int) -> None:
    """Import what jobs need, then fork for whoever asks, until standard input ends: until whoever started this is gone.

    A single thread: a fork of several would inherit the others' locks.
    """
    server = socket.socket(fileno=descriptor)
    for name in MODULES:
        importlib.import_module(name)
    warm()
    gc.freeze()  # what is here stays: no fork has to look through it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Snakemake ends its jobs; their connections tell us
    events = selectors.DefaultSelector()
    events.register(server, selectors.EVENT_READ)
    events.register(sys.stdin, selectors.EVENT_READ)
    callers: dict[
        int, tuple[socket.socket, int, float]
    ] = {}  # a fork's descriptor -> its caller, process and start
    while True:
        for event, _ in events.select():
            if event.fileobj is sys.stdin:
                Path(path).unlink(missing_ok=True)
                for _, child, _ in callers.values():
                    end(child)
                return
            if event.fileobj is server:
                connection, _ = server.accept()
                child = fork(server, connection)
                if child:
                    handle = os.pidfd_open(child)
                    callers[handle] = connection, child, time.monotonic()
                    events.register(handle, selectors.EVENT_READ)
                    events.register(connection, selectors.EVENT_READ, child)
            elif event.data is not None:  # a caller that was ended before its fork
                events.unregister(event.fileobj)
                end(event.data)
            else:
                connection, child, begin = callers.pop(event.fd)
                events.unregister(event.fd)
                os.close(event.fd)
                if connection in events.get_map():
                    events.unregister(connection)
                _, status, used = os.wait4(child, 0)
                answer(connection, status, time.monotonic() - begin, used)


def warm() -> None:
    """Numba takes a third of a second to make ready for its first kernel: one that no other calls, so that all give the
    same bits as without."""
    import numpy as np

    from fedrepro.maths.kernels import thinning

    thinning.weights(np.zeros(2), np.zeros(2), 1.0)


def fork(server: socket.socket, connection: socket.socket) -> int:
    """The process of a fork that does what a caller asks; 0 where nothing was asked."""
    request, files = received(connection)
    parent = os.getpid()
    child = os.fork() if request is not None else 0
    if request is not None and child == 0:
        server.close()
        connection.close()
        become(request, files, parent)
    for file in files:
        os.close(file)
    if child:
        with contextlib.suppress(OSError):
            connection.sendall(b"\1")
    else:
        connection.close()
    return child


def end(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGTERM)


def answer(connection: socket.socket, status: int, wall: float, used) -> None:
    """The exit code, and what the fork took: wall and CPU seconds, the peak of its memory in MB."""
    cost = wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    with contextlib.suppress(OSError):
        connection.sendall(struct.pack("!iddd", os.waitstatus_to_exitcode(status), *cost))
    connection.close()


def received(connection: socket.socket) -> tuple[dict | None, list[int]]:
    """A request, and the caller's standard output and error."""
    space = socket.CMSG_LEN(2 * array.array("i").itemsize)
    head, about, _, _ = connection.recvmsg(4, space)
    files = array.array("i")
    for level, kind, data in about:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    if len(head) < 4:
        return None, list(files)
    size, body = struct.unpack("!I", head)[0], b""
    while len(body) < size:
        piece = connection.recv(size - len(body))
        if not piece:
            return None, list(files)
        body += piece
    return json.loads(body), list(files)


def become(request: dict, files: list[int], parent: int) -> None:
    """The fork: run the script as if it had been started by the caller, and leave."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setpgid(0, 0)
        # No job outlives a killed run, to write into the next.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before that
            os._exit(code)
        for file, standard in zip(files, (1, 2), strict=True):
            os.dup2(file, standard)
            os.close(file)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.argv = request["words"]
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 — for the life of the process
        sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        runpy.run_path(request["words"][0], run_name="__main__")
        code = 0
    except SystemExit as left:
        if left.code is not None and not isinstance(left.code, int):
            print(left.code, file=sys.stderr)
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
