"""Small files in the publishers' formats, written by hand so that the parsers are not checked against
themselves."""

import bz2
import gzip
import hashlib
import io
import lzma
import sqlite3
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np


def idx(array: np.ndarray) -> bytes:
    kind = 0x08 if array.dtype == np.uint8 else 0x0C
    head = bytes([0, 0, kind, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


def images(rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(0, 256, (n, 28, 28), dtype=np.uint8), (np.arange(n) % 10).astype(np.uint8)


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(members: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return out.getvalue()


def example(pixels: np.ndarray, label: int) -> bytes:
    """A serialized tf.train.Example with `pixels` (floats) and `label` (one integer), written by hand."""

    def varint(value: int) -> bytes:
        out = b""
        while value > 0x7F:
            out += bytes([value & 0x7F | 0x80])
            value >>= 7
        return out + bytes([value])

    def field(number: int, content: bytes) -> bytes:
        return varint(number << 3 | 2) + varint(len(content)) + content

    floats = field(2, field(1, pixels.astype("<f4").tobytes()))
    integers = field(3, field(1, varint(label)))
    entries = [field(1, key) + field(2, value) for key, value in ((b"pixels", floats), (b"label", integers))]
    return field(1, b"".join(field(1, entry) for entry in entries))


def sqlite_of_writers(path: Path, rows: list[tuple[str, str, bytes]]) -> bytes:
    """(split, writer, example) rows as the publisher's SQLite file, compressed."""
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE examples (split_name TEXT, client_id TEXT, serialized_example_proto BLOB)"
        )
        database.execute(
            "CREATE TABLE client_metadata (client_id TEXT, split_name TEXT, num_examples INTEGER)"
        )
        database.executemany("INSERT INTO examples VALUES (?, ?, ?)", rows)
        for split, client in sorted({row[:2] for row in rows}):
            database.execute("INSERT INTO client_metadata VALUES (?, ?, 1)", (client, split))
    return lzma.compress(path.read_bytes())


COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "plain": bytes}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def find(sources, file: str):
    """The first place that has the file intact, or None with the reasons in `tried`."""
    return next(sources.candidates(file), None)
