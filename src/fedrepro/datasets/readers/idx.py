"""MNIST, Fashion-MNIST and EMNIST digits: 28 x 28 grey images in the idx format, flattened to 784 bytes a
row."""

import hashlib
import struct
import tempfile
from pathlib import Path

import numpy as np

from fedrepro.datasets import DataError, Decoded
from fedrepro.datasets.transport.archives import read_unpacked, zip_member

UNSIGNED_BYTE, INT32 = 0x08, 0x0C


def read_idx(content: bytes, what: str, dimensions: int) -> np.ndarray:
    """An idx array: two zero bytes, type, number of dimensions, the big-endian sizes, the values."""
    kinds = {UNSIGNED_BYTE: np.dtype(np.uint8), INT32: np.dtype(">i4")}
    start = 4 + 4 * dimensions
    if len(content) < start or content[:2] != b"\0\0" or content[2] not in kinds or content[3] != dimensions:
        raise DataError(f"{what}: not an idx file of {dimensions} dimensions")
    shape = struct.unpack(f">{dimensions}I", content[4:start])
    dtype = kinds[content[2]]
    expected = start + int(np.prod(shape, dtype=object)) * dtype.itemsize
    if len(content) != expected:
        raise DataError(f"{what}: expected {expected:,} bytes for shape {shape}, found {len(content):,}")
    return np.frombuffer(content, dtype, offset=start).reshape(shape)


def images_and_labels(images: bytes, labels: bytes, what: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = read_idx(images, f"{what} images", 3), read_idx(labels, f"{what} labels", 1)
    if X.dtype != np.uint8 or X.shape[1:] != (28, 28) or y.dtype != np.uint8 or len(X) != len(y):
        raise DataError(f"{what}: images {X.shape} and labels {y.shape} do not fit together")
    return X, y


def parse(files: dict, limits: dict) -> Decoded:
    """Four files: train images, train labels, test images, test labels."""
    content = [read_unpacked(path, limits[name]) for name, path in files.items()]
    train = images_and_labels(content[0], content[1], "train")
    test = images_and_labels(content[2], content[3], "test")
    return joined(train, test)


def joined(train, test) -> Decoded:
    X = np.concatenate([train[0].reshape(-1, 784), test[0].reshape(-1, 784)])
    split = np.repeat(np.array([0, 1], np.uint8), (len(train[1]), len(test[1])))
    return Decoded(X, np.concatenate([train[1], test[1]]), split=split)


# sha256 of EMNIST's four digit files inside the publisher's zip, as several independent loaders list them
EMNIST_DIGITS = {
    "train-images-idx3": "f7c95004d14d81af89522e67d8f0c781dfb3bd544181c81bfe1eb6b41c35b726",
    "train-labels-idx1": "6638a6ff5fe2eefd9cca2471995b46c82986b8e4b2a70d2f5ce8e05d7edb319e",
    "test-images-idx3": "20ebe43509264f7639d37c835a3f0b009e90b29e00a099a03101abe1644a3f63",
    "test-labels-idx1": "bad1834c45d5988e270b99d43b13edc3fd898f658ffbc2caf2846ef27f7b05b0",
}


def parse_emnist(files: dict, limits: dict, digests: dict[str, str] = EMNIST_DIGITS) -> Decoded:
    """EMNIST digits out of gzip.zip. Its images are stored column by column: turned upright here."""
    (name,) = files
    content = []
    with tempfile.TemporaryDirectory() as folder:
        for part, expected in digests.items():
            member = zip_member(files[name], f"emnist-digits-{part}-ubyte.gz", limits[name])
            found = hashlib.sha256(member).hexdigest()
            if found != expected:
                raise DataError(f"{name}: emnist-digits-{part}: expected sha256 {expected}, found {found}")
            packed = Path(folder) / "member"
            packed.write_bytes(member)
            content.append(read_unpacked(packed, limits[name]))
    pairs = [images_and_labels(content[i], content[i + 1], "EMNIST digits") for i in (0, 2)]
    return joined(*((X.transpose(0, 2, 1), y) for X, y in pairs))


def standin_images(
    rng: np.random.Generator, y: np.ndarray, classes: int, groups: np.ndarray | None = None, rank: int = 40
) -> np.ndarray:
    """Smooth class prototypes, a style per group, and low-rank noise with a decaying spectrum, as bytes.

    Written in slices, so that the largest set takes the memory of its result and little more.
    """
    from scipy.ndimage import gaussian_filter

    def smooth(count: int, width: float) -> np.ndarray:
        blobs = gaussian_filter(rng.standard_normal((count, 28, 28)), (0, width, width))
        rows, cols = np.ogrid[:28, :28]
        blobs *= np.exp(-((rows - 13.5) ** 2 + (cols - 13.5) ** 2) / 120)
        return (
            (blobs / np.sqrt((blobs**2).mean((1, 2), keepdims=True))).reshape(count, 784).astype(np.float32)
        )

    prototypes = 70 * smooth(classes, 2.2) - 25
    variation = smooth(rank, 1.6) * (60 / np.sqrt(np.arange(1, rank + 1)))[:, None].astype(np.float32)
    styles = None if groups is None else rng.standard_normal((groups.max() + 1, rank)).astype(np.float32)
    X = np.empty((len(y), 784), np.uint8)
    for start in range(0, len(y), 20_000):
        rows = slice(start, start + 20_000)
        code = rng.standard_normal((len(y[rows]), rank), dtype=np.float32)
        if styles is not None:
            code = 0.8 * code + 0.6 * styles[groups[rows]]
        image = code @ variation
        image += prototypes[y[rows]]
        X[rows] = np.clip(image, 0, 255, out=image)
    return X


def standin(rng: np.random.Generator, train: int = 60_000, test: int = 10_000) -> Decoded:
    """MNIST's or Fashion-MNIST's shape: ten balanced classes."""
    y = np.concatenate([rng.permutation(np.arange(n) % 10) for n in (train, test)]).astype(np.uint8)
    split = np.repeat(np.array([0, 1], np.uint8), (train, test))
    return Decoded(standin_images(rng, y, 10), y, split=split)


def standin_emnist(rng: np.random.Generator) -> Decoded:
    return standin(rng, 240_000, 40_000)
