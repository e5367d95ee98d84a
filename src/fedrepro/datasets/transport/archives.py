"""Opening compressed files and archives without trusting them.

Compression is told from the first bytes, not from the name. Everything is read through a limit, nothing is
extracted under a name the archive chose, and nothing is ever unpickled.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from fedrepro.datasets import DataError

MB = 1_000_000
CHUNK = 1 << 20
OPENERS = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
    (b"\x5d\x00\x00", lzma.open),
)
DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError, ValueError,
          NotImplementedError, RuntimeError, OverflowError)  # fmt: skip


def unpacked(path: Path, limit_mb: float) -> Iterator[bytes]:
    """The decompressed content of a file (a plain file is its own content), in pieces, never above the
    limit."""
    total = 0
    try:
        with open_stream(path) as stream:
            while piece := stream.read(CHUNK):
                total += len(piece)
                if total > limit_mb * MB:
                    raise DataError(f"{path.name}: unpacks to more than the {limit_mb:g} MB declared")
                yield piece
    except DAMAGE as error:
        raise DataError(f"{path.name}: damaged or cut short after {total:,} bytes ({error})") from None


def open_stream(path: Path) -> IO[bytes]:
    with path.open("rb") as raw:
        start = raw.read(6)
    for magic, opener in OPENERS:
        if start.startswith(magic):
            return opener(path, "rb")
    return path.open("rb")


def read_unpacked(path: Path, limit_mb: float) -> bytes:
    return b"".join(unpacked(path, limit_mb))


def check_member_name(archive: str, name: str) -> None:
    """Refuse the whole archive when a member would land outside its folder: such a file is not the
    publisher's."""
    pure = PurePosixPath(name.replace("\\", "/"))
    if pure.is_absolute() or ".." in pure.parts:
        raise DataError(f"{archive}: holds '{name}', a path outside its folder; the archive is refused")


def zip_member(path: Path, name: str, limit_mb: float) -> bytes:
    """The one member of a zip that has this name, in whatever folder."""
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                check_member_name(path.name, info.filename)
                if (info.external_attr >> 16) & 0o170000 == 0o120000:
                    raise DataError(f"{path.name}: '{info.filename}' is a link; the archive is refused")
            found = [info for info in archive.infolist() if f"/{info.filename}".endswith(f"/{name}")]
            if len(found) != 1:
                raise DataError(f"{path.name}: {len(found)} members are called '{name}', expected one")
            with archive.open(found[0]) as stream:
                content = stream.read(int(limit_mb * MB) + 1)
    except DAMAGE as error:
        raise DataError(f"{path.name}: not a sound zip archive ({error})") from None
    if len(content) > limit_mb * MB:
        raise DataError(f"{path.name}: '{name}' unpacks to more than the {limit_mb:g} MB declared")
    return content


def tar_members(path: Path, limit_mb: float) -> Iterator[tuple[str, IO[bytes]]]:
    """(name, open file) of each regular file of a tar, compressed or not, in its order.

    The stream is read once, through the limit; links, devices and paths outside the folder refuse the
    archive.
    """
    stream = io.BufferedReader(_Pieces(unpacked(path, limit_mb)), CHUNK)
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                check_member_name(path.name, member.name)
                if member.isdir():
                    continue
                if not member.isreg():
                    raise DataError(
                        f"{path.name}: '{member.name}' is a link or device; the archive is refused"
                    )
                yield member.name, archive.extractfile(member)
    except DAMAGE as error:
        raise DataError(f"{path.name}: not a sound tar archive ({error})") from None


class _Pieces(io.RawIOBase):
    """A readable file over an iterator of byte pieces: tarfile wants a file, the limit is in the iterator."""

    def __init__(self, pieces: Iterator[bytes]):
        self.pieces, self.rest = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        while not self.rest:
            piece = next(self.pieces, None)
            if piece is None:
                return 0
            self.rest = piece
        n = min(len(buffer), len(self.rest))
        buffer[:n], self.rest = self.rest[:n], self.rest[n:]
        return n
