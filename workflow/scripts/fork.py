"""`python fork.py script.py name=value …`: run a script as a fork of the process that has the libraries, or by itself."""

import array
import json
import os
import socket
import struct
import sys


def ask(path, words):
    """The exit code of a fork; None where there is nobody to ask."""
    asked = socket.socket(socket.AF_UNIX)
    try:
        asked.connect(path)
        here = os.getcwd()  # noqa: PTH109 — pathlib would take longer to import than all this takes
        body = json.dumps({"words": words, "folder": here, "environment": dict(os.environ)}).encode()
        files = array.array("i", [1, 2])
        asked.sendmsg([struct.pack("!I", len(body))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        asked.sendall(body)
        answer = asked.recv(4)
    except OSError:
        return None
    return struct.unpack("!i", answer)[0] if len(answer) == 4 else 1


words = sys.argv[1:]
place = os.environ.get("FEDREPRO_FORKS", "")
code = ask(place, words) if place else None
if code is None:
    os.execv(sys.executable, [sys.executable, *words])
sys.exit(code if code >= 0 else 128 - code)
