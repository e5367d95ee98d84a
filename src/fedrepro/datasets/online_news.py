"""Online News Popularity (Fernandes et al. 2015): 58 features of an article, and how often it was shared."""

import numpy as np

from fedrepro.datasets import DataError, Decoded
from fedrepro.datasets.readers.tables import read_numbers
from fedrepro.datasets.transport.archives import read_unpacked, zip_member

ROWS = 39_644


def parse(files: dict, limits: dict) -> Decoded:
    """The publisher's zip: url, timedelta, 58 features, shares. The first two are not predictive and
    dropped."""
    (name,) = files
    content = zip_member(files[name], "OnlineNewsPopularity.csv", limits[name])
    return split_columns(read_numbers(content, name, np.float64, header=True, drop=1), name)


def parse_without_url(files: dict, limits: dict) -> Decoded:
    (name,) = files
    return split_columns(
        read_numbers(read_unpacked(files[name], limits[name]), name, np.float64, header=True), name
    )


def split_columns(table: np.ndarray, name: str) -> Decoded:
    if table.shape[1] != 60:
        raise DataError(f"{name}: {table.shape[1]} numeric columns, expected 60")
    timedelta, shares = table[:, 0], table[:, -1]
    if not ((timedelta >= 0) & (timedelta <= 800)).all() or not (shares >= 1).all():
        raise DataError(f"{name}: timedelta or shares out of range")
    return Decoded(np.ascontiguousarray(table[:, 1:-1]), shares.astype(np.int32))


def standin(rng: np.random.Generator) -> Decoded:
    """Counts, rates and indicators in the published proportions; shares log-normal around the median of
    1,400."""
    factors = rng.standard_normal((ROWS, 8))
    latent = factors @ rng.standard_normal((8, 58)) / np.sqrt(8) + rng.standard_normal((ROWS, 58))
    X = np.empty((ROWS, 58))
    X[:, :20] = np.rint(np.exp(1.0 + 1.2 * latent[:, :20]))  # counts of words, links, images, keyword shares
    X[:, 20:34] = latent[:, 20:34] > rng.uniform(0.4, 1.8, 14)  # channel and weekday indicators
    X[:, 34:] = 1 / (1 + np.exp(-latent[:, 34:]))  # topic weights, polarity and subjectivity rates
    effect = latent @ rng.standard_normal(58) / np.sqrt(58)
    shares = np.exp(np.log(1400) + 0.25 * effect + 0.9 * rng.standard_normal(ROWS))
    return Decoded(X, np.clip(np.rint(shares), 1, 843_300).astype(np.int32))
