"""YearPredictionMSD (Bertin-Mahieux et al. 2011): 90 timbre features of a song, and the year it came out."""

import numpy as np

from fedrepro.datasets import DataError, Decoded
from fedrepro.datasets.readers.tables import read_numbers
from fedrepro.datasets.transport.archives import read_unpacked, zip_member
from fedrepro.maths.seeds import stream

ROWS, TRAIN = 515_345, 463_715  # the publisher: the first 463,715 rows train, no artist is on both sides
YEARS = (1922, 2011)  # the first and the last
SAMPLE = 7_000  # rows of the smaller set


def parse(files: dict, limits: dict) -> Decoded:
    (name,) = files
    return read_table(zip_member(files[name], "YearPredictionMSD.txt", limits[name]), name)


def parse_some(files: dict, limits: dict) -> Decoded:
    """As many random training rows of the publisher's file as the sample has."""
    whole = parse(files, limits)
    if len(whole.y) != ROWS or (whole.y.min(), whole.y.max()) != YEARS:
        found = f"{len(whole.y)} rows of {whole.y.min()}-{whole.y.max()}"
        raise DataError(f"{', '.join(files)}: {found}, expected {ROWS} of {YEARS[0]}-{YEARS[1]}")
    rows = np.sort(stream(0, "msd-sample").choice(TRAIN, SAMPLE, replace=False))
    return Decoded(whole.X[rows], whole.y[rows])


def parse_sample(files: dict, limits: dict) -> Decoded:
    """Random training rows, in the layout of the publisher's text."""
    (name,) = files
    found = read_table(read_unpacked(files[name], limits[name]), name)
    return Decoded(found.X, found.y)


def read_table(content: bytes, name: str) -> Decoded:
    table = read_numbers(content, name, np.float64)
    if table.shape[1] != 91:
        raise DataError(f"{name}: {table.shape[1]} columns, expected 91")
    years = table[:, 0]
    if not ((years >= 1900) & (years <= 2030) & (years == np.rint(years))).all():
        raise DataError(f"{name}: the first column is not a year")
    split = (np.arange(len(table)) >= TRAIN).astype(np.uint8)
    return Decoded(table[:, 1:].astype(np.float32), years.astype(np.int16), split=split)


# Summary statistics of 1,176 published rows (mean, standard deviation), and of the spectrum of their
# [0,1]-scaled Gram matrix / n: a mean direction, then eigenvalues that fall from 0.0996 to 2e-4 over 89
# directions.
SPECTRUM = (0.09963, 2e-4)
MEAN = (
    42.8, -2.4, 8.7, 4.1, -7.8, -6.9, -1.9, -1.6, 3.6, 2.2, -0.3, 2.2, 31, 2461, 2104, 1644, 916, 978, 624,
    522, 400, 330, 328, 297, 54, 197, -142, -42, 27, 70, 9, 28, 11, 4, -6, 81, -55, 115, -211, 27, 0, 8,
    -47, -3, 0, 0, 72, 166, -105, 14, 18, 24, 5, -2, -10, 79, 115, -9, 46, -37, 11, 4, 0, -142, -16, -8, 5,
    29, 33, 2, 0, 26, -25, -7, -27, -6, -24, 15, -138, 21, 15, -73, 44, 49, -1.5, 13, -27, 3.7, 15, 2.2,
)  # fmt: skip
DEVIATION = (
    6.5, 52, 39, 18, 23, 16, 15, 8.7, 10.5, 6.6, 4.9, 8.7, 20, 1921, 1437, 1174, 538, 588, 372, 282, 253,
    147, 222, 173, 122, 859, 632, 273, 175, 151, 119, 72, 82, 67, 49, 116, 481, 507, 297, 216, 124, 137, 79,
    43, 44, 67, 464, 393, 253, 159, 106, 88, 85, 90, 55, 314, 375, 312, 187, 140, 70, 53, 42, 309, 243, 139,
    116, 139, 110, 36, 297, 270, 194, 69, 72, 30, 266, 151, 265, 137, 31, 174, 144, 115, 17, 129, 181, 16,
    189, 22,
)  # fmt: skip


def standin_sample(rng: np.random.Generator) -> Decoded:
    found = standin(rng, SAMPLE)
    return Decoded(found.X, found.y)


def standin(rng: np.random.Generator, rows: int = ROWS) -> Decoded:
    """Correlated heavy-tailed features with the published means, deviations and decay of the spectrum.

    The year is linear in a few of them plus noise, and as skewed to recent years as the published one.
    """
    directions = np.linalg.qr(rng.standard_normal((90, 90)))[0]
    strength = np.sqrt(np.geomspace(*SPECTRUM, 90))
    mixing = directions * strength
    mixing /= np.sqrt((mixing**2).sum(1, keepdims=True))  # unit variance per feature
    Z = rng.standard_normal((rows, 90), dtype=np.float32)
    Z /= np.sqrt(rng.chisquare(6, (rows, 1)) / 6).astype(np.float32)  # the tails of the published columns
    X = Z @ mixing.T.astype(np.float32)
    age = 9 * np.exp(0.55 * (X[:, :12] @ rng.standard_normal(12)) / 4 + 0.75 * rng.standard_normal(rows))
    y = np.clip(2011 - age, 1922, 2011).astype(np.int16)
    X *= np.array(DEVIATION, np.float32)
    X += np.array(MEAN, np.float32)
    split = (np.arange(rows) >= TRAIN).astype(np.uint8)
    return Decoded(X, y, split=split)
