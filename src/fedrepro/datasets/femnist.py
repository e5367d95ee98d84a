"""Federated EMNIST: characters by the writer who wrote them, all 62 classes or the digits only.

The publisher's SQLite file holds one serialized example (pixels, label) per row, keyed by split and writer.
The relative is MNIST with the writer of each image from QMNIST: a real federation by writer, of digits only.
"""

import sqlite3
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fedrepro.datasets import DataError, Decoded
from fedrepro.datasets.readers import idx
from fedrepro.datasets.transport.archives import read_unpacked, unpacked

WRITERS, TRAIN, TEST = 3400, 671_585, 77_483
DIGIT_WRITERS, DIGIT_TRAIN, DIGIT_TEST = 3383, 341_873, 40_832


def parse_all(files: dict, limits: dict) -> Decoded:
    return parse(files, limits, ("all_train", "all_test"))


def parse_digits(files: dict, limits: dict) -> Decoded:
    return parse(files, limits, ("digits_only_train", "digits_only_test"))


def parse(files: dict, limits: dict, splits: tuple[str, str]) -> Decoded:
    """Rows by split, then writer, then the order in the file. Pixels are k/255 with the paper white (1.0):
    stored as the byte 255 - k, so that ink is bright and paper 0, as in MNIST."""
    (name,) = files
    with tempfile.TemporaryDirectory(dir=files[name].parent, prefix=".sqlite-") as folder:
        plain = Path(folder) / "examples.sqlite"
        with plain.open("wb") as out:
            out.writelines(unpacked(files[name], limits[name]))
        try:
            with sqlite3.connect(f"file:{plain}?mode=ro&immutable=1", uri=True) as database:
                return read_examples(database, splits, name)
        except sqlite3.Error as error:
            raise DataError(f"{name}: not the expected SQLite file ({error})") from None


def read_examples(database: sqlite3.Connection, splits: tuple[str, str], name: str) -> Decoded:
    count = "SELECT COUNT(*) FROM examples WHERE split_name = ?"
    sizes = [database.execute(count, [split]).fetchone()[0] for split in splits]
    listing = "SELECT DISTINCT client_id FROM client_metadata WHERE split_name IN (?, ?) ORDER BY client_id"
    writers = {client: i for i, (client,) in enumerate(database.execute(listing, splits))}
    n = sum(sizes)
    X, y, groups = np.empty((n, 784), np.uint8), np.empty(n, np.uint8), np.empty(n, np.int32)
    query = """SELECT client_id, serialized_example_proto FROM examples
               WHERE split_name = ? ORDER BY client_id, rowid"""
    row = 0
    for split in splits:
        for client, message in database.execute(query, [split]):
            pixels, label = read_example(message, name)
            if client not in writers or not 0 <= label < 62:
                raise DataError(f"{name}: unknown writer {client!r} or class {label}")
            X[row], y[row], groups[row] = np.rint(255 * (1 - pixels)), label, writers[client]
            row += 1
    if n == 0 or row != n:
        raise DataError(f"{name}: expected {n:,} examples in {splits}, found {row:,}")
    return Decoded(X, y, groups, np.repeat(np.array([0, 1], np.uint8), sizes))


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(number, value) of each field of a protocol-buffer message; only the wire types that occur in an
    Example."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise ValueError("varint too long")

    while at < len(message):
        key = varint()
        number, wire = key >> 3, key & 7
        if wire == 0:
            yield number, varint()
        elif wire == 2:
            size = varint()
            if at + size > len(message):
                raise ValueError("field beyond the end")
            yield number, message[at : at + size]
            at += size
        elif wire == 5:
            yield number, message[at : at + 4]
            at += 4
        else:
            raise ValueError(f"wire type {wire}")


def read_example(message: bytes, name: str) -> tuple[np.ndarray, int]:
    """An Example is Features{ map<string, Feature> }; a Feature is a list of floats (2) or of integers
    (3)."""
    found = {}
    try:
        for _, features in fields(message):
            for _, entry in fields(features):
                pair = dict(fields(entry))
                found[pair[1]] = dict(fields(pair[2]))
        floats = b"".join(value for _, value in fields(found[b"pixels"][2]))
        pixels = np.frombuffer(floats, "<f4")
        ((_, label),) = fields(found[b"label"][3])
        label = label if isinstance(label, int) else label[0]
    except (ValueError, KeyError, IndexError, TypeError, struct.error) as error:
        raise DataError(f"{name}: an example cannot be read ({error!r})") from None
    if pixels.shape != (784,) or not ((pixels >= 0) & (pixels <= 1)).all():
        raise DataError(f"{name}: an example is not 784 pixels between 0 and 1")
    return pixels, label


def parse_mnist_by_writer(files: dict, limits: dict) -> Decoded:
    """MNIST's four files, then QMNIST's train and test labels, whose third column is the writer."""
    names = list(files)
    decoded = idx.parse({name: files[name] for name in names[:4]}, limits)
    sizes = [int((decoded.split == part).sum()) for part in (0, 1)]
    tables = []
    for name, size in zip(names[4:], sizes, strict=True):
        table = idx.read_idx(read_unpacked(files[name], limits[name]), name, 2)
        if table.shape[1:] != (8,) or len(table) < size:
            raise DataError(f"{name}: shape {table.shape}, expected at least {size} rows of 8")
        tables.append(table[:size])  # the QMNIST test file goes on with images that MNIST does not have
    table = np.concatenate(tables)
    if not np.array_equal(table[:, 0], decoded.y):
        raise DataError(f"{names[4]}: the labels are not those of the MNIST images")
    decoded.groups = np.unique(table[:, 2], return_inverse=True)[1].astype(np.int32)
    return decoded


def standin(rng: np.random.Generator) -> Decoded:
    return standin_by_writer(rng, WRITERS, TRAIN, TEST, 62)


def standin_digits(rng: np.random.Generator) -> Decoded:
    return standin_by_writer(rng, DIGIT_WRITERS, DIGIT_TRAIN, DIGIT_TEST, 10)


def standin_by_writer(rng, writers: int, train: int, test: int, classes: int) -> Decoded:
    """Unequal writers, each with a hand of their own and a class mix of their own; all in train and in
    test."""
    appetite = rng.gamma(4.0, size=writers)
    mix = rng.gamma(5.0, size=(writers, classes))
    if classes == 62:
        mix[:, :10] *= 4  # half of the characters are digits
    bounds = np.cumsum(mix / mix.sum(1, keepdims=True), axis=1)
    groups, y = [], []
    for n in (train, test):
        extra = rng.choice(writers, n - writers, p=appetite / appetite.sum())
        group = np.sort(np.concatenate([np.arange(writers), extra])).astype(np.int32)
        draw = rng.random(n)
        # position in the writer's own cumulated mix: rows of `bounds` lie one after the other on one line
        line = (bounds + np.arange(writers)[:, None]).ravel()
        label = np.searchsorted(line, group + draw) - group * classes
        groups.append(group)
        y.append(label.clip(0, classes - 1).astype(np.uint8))
    groups, y = np.concatenate(groups), np.concatenate(y)
    X = idx.standin_images(rng, y, classes, groups)
    return Decoded(X, y, groups, np.repeat(np.array([0, 1], np.uint8), (train, test)))
