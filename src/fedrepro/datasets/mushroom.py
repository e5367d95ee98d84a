"""Mushroom (UCI 1981): 22 categorical attributes as letters; y is 1 for poisonous, 0 for edible.

X keeps the letters as bytes; `fedrepro.datasets.preprocess.one_hot` makes the paper's columns of them. '?' marks a
missing stalk-root: without those 2,480 rows the one-hot matrix has 98 columns, 99 with the ones column.
"""

import numpy as np

from fedrepro.datasets import DataError, Decoded
from fedrepro.datasets.transport.archives import read_unpacked

EDIBLE, POISONOUS = 4208, 3916
STALK_ROOT, MISSING = 10, ord("?")
# how many letters each attribute takes: in all rows ('?' not counted), and in those with a known stalk-root
LETTERS = (6, 4, 10, 2, 9, 2, 2, 2, 12, 2, 4, 4, 4, 9, 9, 1, 4, 3, 5, 9, 6, 7)
LETTERS_COMPLETE = (6, 4, 8, 2, 7, 2, 2, 2, 9, 2, 4, 4, 4, 7, 7, 1, 2, 3, 4, 6, 6, 6)


def parse(files: dict, limits: dict) -> Decoded:
    (name,) = files
    lines = read_unpacked(files[name], limits[name]).split()
    if not lines or any(len(line) != 45 or line[1::2] != b"," * 22 for line in lines):
        raise DataError(f"{name}: a line is not 23 letters between commas")
    letters = np.frombuffer(b"".join(lines), np.uint8).reshape(len(lines), 45)[:, ::2]
    if not np.isin(letters[:, 0], (ord("e"), ord("p"))).all():
        raise DataError(f"{name}: a class is neither e nor p")
    lower = (letters[:, 1:] >= ord("a")) & (letters[:, 1:] <= ord("z"))
    if not (lower | (letters[:, 1:] == MISSING)).all():
        raise DataError(f"{name}: an attribute is not a small letter or '?'")
    return Decoded(np.ascontiguousarray(letters[:, 1:]), (letters[:, 0] == ord("p")).astype(np.uint8))


def standin(rng: np.random.Generator) -> Decoded:
    """As many letters per attribute, with frequencies that depend on the class; as in the real rows, some
    letters occur only where the stalk-root is missing."""
    y = rng.permutation(np.repeat(np.array([0, 1], np.uint8), (EDIBLE, POISONOUS)))
    missing = rng.permutation(len(y)) < 2480
    X = np.empty((len(y), 22), np.uint8)
    for j, (kinds, complete) in enumerate(zip(LETTERS, LETTERS_COMPLETE, strict=True)):
        for rows, count in ((np.flatnonzero(~missing), complete), (np.flatnonzero(missing), kinds)):
            weights = rng.gamma(0.5, size=(2, count)) + 0.02
            bounds = np.cumsum(weights / weights.sum(1, keepdims=True), axis=1)
            kind = (rng.random(len(rows))[:, None] > bounds[y[rows]]).sum(1).clip(max=count - 1)
            kind[:count] = np.arange(count)  # every letter occurs
            X[rows, j] = ord("a") + kind
    X[missing, STALK_ROOT] = MISSING
    return Decoded(X, y)
