"""`python fork.py script.py name=value …`: run a script as a fork of the process that has the libraries, or by itself.
What it cost is left beside its log, as `….cost`."""

import array
import json
import os
import signal
import socket
import struct
import sys
import time

ANSWER = "!iddd"  # exit code, wall seconds, CPU seconds, peak memory in MB


def ask(path, words):
    """The exit code of a fork and what it cost; None where there is nobody to ask."""
    asked = socket.socket(socket.AF_UNIX)
    try:
        asked.connect(path)
        here = os.getcwd()  # noqa: PTH109 — pathlib would take longer to import than all this takes
        body = json.dumps({"words": words, "folder": here, "environment": dict(os.environ)}).encode()
        files = array.array("i", [1, 2])
        asked.sendmsg([struct.pack("!I", len(body))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        asked.sendall(body)
        if not asked.recv(1):  # it ended before it began with this
            return None
        answer = asked.recv(struct.calcsize(ANSWER), socket.MSG_WAITALL)
    except OSError:
        return None
    return struct.unpack(ANSWER, answer) if len(answer) == struct.calcsize(ANSWER) else (1, 0, 0, 0)


def start(words):
    """The same of a process of its own."""
    begin = time.monotonic()
    child = os.posix_spawn(sys.executable, [sys.executable, *words], os.environ)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda given, _: os.kill(child, given))
    _, status, used = os.wait4(child, 0)
    wall = time.monotonic() - begin
    return os.waitstatus_to_exitcode(status), wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def note(words, wall, cpu, memory):
    log = next((word[4:] for word in words if word.startswith("log=")), None)
    if log and os.path.exists(log):  # noqa: PTH110
        with open(log.removesuffix(".log") + ".cost", "w") as file:
            file.write(f"{wall:.3f} {cpu:.3f} {memory:.0f}\n")


words = sys.argv[1:]
place = os.environ.get("FEDREPRO_FORKS", "")
code, *cost = (ask(place, words) if place else None) or start(words)
if code == 0:
    note(words, *cost)
sys.exit(code if code >= 0 else 128 - code)
