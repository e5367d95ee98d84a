"""Covertype (Blackard & Dean 1999): 54 cartographic features, forest cover class 1 to 7."""

import numpy as np

from fedrepro.datasets import DataError, Decoded
from fedrepro.datasets.readers.tables import read_numbers
from fedrepro.datasets.transport.archives import read_unpacked

COUNTS = (211840, 283301, 35754, 2747, 9493, 17367, 20510)  # rows of class 1..7
# mean and standard deviation of the ten quantitative columns over the full set, and how often each of the
# 4 wilderness areas and 40 soil types occurs, rounded: what the stand-in imitates
QUANTITATIVE = ((2959, 280), (156, 112), (14, 7), (269, 213), (46, 58), (2350, 1559), (212, 27), (223, 20),
                (143, 38), (1980, 1324))  # fmt: skip


def parse(files: dict, limits: dict) -> Decoded:
    (name,) = files
    table = read_numbers(read_unpacked(files[name], limits[name]), name, np.int16)
    if table.shape[1] != 55:
        raise DataError(f"{name}: {table.shape[1]} columns, expected 55")
    areas, soils = table[:, 10:14], table[:, 14:54]
    if not ((areas.sum(1) == 1).all() and (soils.sum(1) == 1).all()):
        raise DataError(f"{name}: wilderness area and soil type are not one-hot")
    return Decoded(np.ascontiguousarray(table[:, :54]), table[:, 54].astype(np.uint8))


def standin(rng: np.random.Generator) -> Decoded:
    """Gaussian clusters per class for the ten measurements, class-dependent area and soil type."""
    y = rng.permutation(np.repeat(np.arange(1, 8, dtype=np.uint8), COUNTS))
    n = len(y)
    X = np.zeros((n, 54), np.int16)
    mean, sd = np.array(QUANTITATIVE, float).T
    shift = 0.6 * rng.standard_normal((8, 10))
    mixing = np.linalg.qr(rng.standard_normal((10, 10)))[0] * np.sqrt(np.geomspace(3, 0.05, 10))
    noise = rng.standard_normal((n, 10), dtype=np.float32) @ mixing.astype(np.float32).T
    X[:, :10] = np.clip(mean + sd * (shift[y] + noise), 0, 7200)
    for start, kinds, decay in ((10, 4, 0.6), (14, 40, 0.15)):
        base = np.exp(-decay * np.arange(kinds))
        likely = base * rng.gamma(1.0, size=(8, kinds))
        bounds = np.cumsum(likely / likely.sum(1, keepdims=True), axis=1)
        kind = (rng.random(n)[:, None] > bounds[y]).sum(1).clip(max=kinds - 1)
        X[np.arange(n), start + kind] = 1
    return Decoded(X, y)
