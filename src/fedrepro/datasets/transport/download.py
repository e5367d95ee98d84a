"""One file over HTTP: to a temporary name, bounded in size and in patience, and a sentence when it fails.

An unreachable publisher must not hold up a run: every host is probed once, all side by side, and the answer
is remembered for the run (FEDREPRO_RUN, which the workflow sets) in a file that the other jobs read.
"""

import contextlib
import errno
import fcntl
import http.client
import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from fedrepro.datasets import DataError
from fedrepro.datasets.transport.archives import MB

CONNECT_SECONDS = 4.0  # to find out whether a host answers
STALL_SECONDS = 6.0  # without a single byte
SLOW_AFTER_SECONDS = 20.0  # then below SLOW_BYTES per second on average is given up
SLOW_BYTES = 5_000


def run_id() -> str:
    return os.environ.get("FEDREPRO_RUN") or f"pid-{os.getpid()}"


def offline() -> bool:
    """FEDREPRO_OFFLINE=1: nothing outside this machine is tried."""
    return os.environ.get("FEDREPRO_OFFLINE", "") not in ("", "0")


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process at a time in this folder; a killed one leaves no lock behind, the system drops it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def endpoint(url: str) -> tuple[str, int]:
    """Host and port to probe: the proxy's, where one is configured for the scheme."""
    parts = urlsplit(url)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
        parts = urlsplit(proxy if "//" in proxy else f"//{proxy}")
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def host(url: str) -> str:
    return "{}:{}".format(*endpoint(url))


def reachable(urls: Iterable[str], memory: Path) -> dict[str, str]:
    """For each address, '' when its host takes connections, else why not. Asked once per run."""
    urls = list(urls)
    with locked(memory.parent):
        known = read_memory(memory)
        missing = {host(url): endpoint(url) for url in urls if host(url) not in known["failures"]}
        known["failures"] |= probe(missing, CONNECT_SECONDS)
        write_atomically(memory, json.dumps(known, indent=1).encode())
    return {url: known["failures"][host(url)] for url in urls}


def read_memory(memory: Path) -> dict:
    """What this run found out so far; what another run found out is forgotten."""
    try:
        known = json.loads(memory.read_text())
    except (OSError, ValueError):
        known = {}
    return known if known.get("run") == run_id() else {"run": run_id(), "failures": {}}


def recall(what: str, memory: Path) -> str:
    return read_memory(memory)["failures"].get(what, "")


def remember(what: str, why: str, memory: Path) -> None:
    """A host that answered the probe and then failed to deliver, or a package that is not to be had: once is
    enough."""
    with locked(memory.parent):
        known = read_memory(memory)
        known["failures"][what] = why
        write_atomically(memory, json.dumps(known, indent=1).encode())


def probe(hosts: dict[str, tuple[str, int]], seconds: float) -> dict[str, str]:
    """Connect to all hosts side by side. Name look-ups cannot be timed out, so threads are left behind
    instead."""
    answers = dict.fromkeys(hosts, f"no answer in {seconds:g} s")

    def ask(key: str, address: tuple[str, int]) -> None:
        try:
            socket.create_connection(address, timeout=seconds).close()
            answers[key] = ""
        except OSError as error:
            answers[key] = f"unreachable ({error.strerror or error})"

    threads = [threading.Thread(target=ask, args=item, daemon=True) for item in hosts.items()]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return dict(answers)


class _WebOnly(urllib.request.HTTPRedirectHandler):
    max_redirections = 5

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        if urlsplit(newurl).scheme not in ("http", "https"):
            raise DataError(f"redirected to {newurl}, which is not a web address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(url: str, target: Path, limit_mb: float) -> None:
    """Fetch `url` into `target`, a temporary name the caller chose; DataError says what went wrong."""
    opener = urllib.request.build_opener(_WebOnly)
    request = urllib.request.Request(url, headers={"User-Agent": "fedrepro", "Accept-Encoding": "identity"})
    started, total = time.monotonic(), 0
    try:
        with opener.open(request, timeout=STALL_SECONDS) as response, target.open("wb") as out:
            length = response.headers.get("Content-Length", "")
            promised = int(length) if length.isdigit() else None
            while piece := response.read1(1 << 18):
                if total == 0 and piece.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
                    raise DataError("found an HTML page where a data file was expected")
                total += len(piece)
                if total > limit_mb * MB:
                    raise DataError(f"expected at most {limit_mb:g} MB, found more; stopped")
                out.write(piece)
                seconds = time.monotonic() - started
                if seconds > SLOW_AFTER_SECONDS and total / seconds < SLOW_BYTES:
                    raise DataError(f"too slow: {total:,} bytes in {seconds:.0f} s")
    except urllib.error.HTTPError as error:
        raise DataError(f"HTTP status {error.code}: {' '.join(str(error.reason).split())}") from None
    except TimeoutError:
        raise DataError(f"stalled: no byte for {STALL_SECONDS:g} s after {total:,} bytes") from None
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        if getattr(error, "errno", None) == errno.ENOSPC:
            raise DataError(f"disk full after {total:,} bytes; free some space and run again") from None
        if isinstance(getattr(error, "reason", None), TimeoutError):
            raise DataError(f"stalled: no answer in {STALL_SECONDS:g} s") from None
        raise DataError(f"{getattr(error, 'reason', None) or error or type(error).__name__}") from None
    if promised is not None and total != promised:
        raise DataError(f"expected {promised:,} bytes, found {total:,}")
    if total == 0:
        raise DataError("expected a data file, found an empty body")


def write_atomically(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    temporary.write_bytes(content)
    temporary.replace(path)
