"""w8a (Platt 1999, LIBSVM form): 300 keyword indicators of a web page, one category against the rest.

Stored dense, as bytes: 300 columns of zeros and ones are 19 MB, and every solver here takes them dense.
"""

import numpy as np

from fedrepro.datasets import DataError, Decoded
from fedrepro.datasets.readers.libsvm import read_libsvm
from fedrepro.datasets.transport.archives import read_unpacked

SIZES = ((49_749, 1_479), (14_951, 454))  # rows and positives, train and test
ROWS_WITHOUT_WORDS = 0.084


def parse(files: dict, limits: dict) -> Decoded:
    parts = []
    for name, path in files.items():  # train, then test
        X, y = read_libsvm(read_unpacked(path, limits[name]), name, 300)
        if X.nnz and not (X.data == 1).all():
            raise DataError(f"{name}: a feature is neither 0 nor 1")
        parts.append((X.astype(np.uint8).toarray(), y))
    split = np.repeat(np.arange(len(parts), dtype=np.uint8), [len(y) for _, y in parts])
    return Decoded(np.vstack([X for X, _ in parts]), np.concatenate([y for _, y in parts]), split=split)


def standin(rng: np.random.Generator) -> Decoded:
    """Words with Zipf frequencies (12 a page on average); some words speak for the rare positive class."""
    y = np.concatenate([
        rng.permutation(np.repeat(np.array([-1, 1], np.int8), (rows - positive, positive)))
        for rows, positive in SIZES
    ])  # fmt: skip
    frequency = np.minimum(0.25, 2.6 / np.arange(1, 301) ** 0.9)
    frequency *= 12.7 / frequency.sum()
    lean = np.exp(rng.standard_normal(300))
    chance = np.where(y[:, None] == 1, np.minimum(0.6, 1.5 * frequency * lean), frequency)
    X = (rng.random((len(y), 300), dtype=np.float32) < chance).astype(np.uint8)
    X[rng.random(len(y)) < ROWS_WITHOUT_WORDS] = 0
    split = np.repeat(np.array([0, 1], np.uint8), [rows for rows, _ in SIZES])
    return Decoded(X, y, split=split)
