"""Boston housing (Harrison & Rubinfeld 1978): 13 features of a census tract, median value of its homes.

Column B encodes a questionable assumption about race, for which scikit-learn removed the set; it is used here
as a numeric check of a paper's figure and for nothing else.
"""

import numpy as np

from fedrepro.datasets import DataError, Decoded
from fedrepro.datasets.readers.tables import read_numbers
from fedrepro.datasets.transport.archives import read_unpacked


def parse(files: dict, limits: dict) -> Decoded:
    """UCI's file: blanks between the 14 numbers of a row."""
    (name,) = files
    content = read_unpacked(files[name], limits[name])
    return split_columns(read_numbers(b"\n".join(b",".join(line.split()) for line in content.splitlines()),
                                      name, np.float64), name)  # fmt: skip


def parse_csv(files: dict, limits: dict) -> Decoded:
    """scikit-learn's rendering: a line of counts, a line of names, then the same numbers."""
    (name,) = files
    content = read_unpacked(files[name], limits[name])
    return split_columns(read_numbers(content.partition(b"\n")[2], name, np.float64, header=True), name)


def split_columns(table: np.ndarray, name: str) -> Decoded:
    if table.shape[1] != 14:
        raise DataError(f"{name}: {table.shape[1]} columns, expected 14")
    return Decoded(np.ascontiguousarray(table[:, :13]), table[:, 13].copy())


def standin(rng: np.random.Generator) -> Decoded:
    """Two kinds of tract, correlated features of very different scales, a roughly linear response."""
    scale = np.array([8.6, 23, 6.9, 0.25, 0.12, 0.7, 28, 2.1, 8.7, 168, 2.2, 91, 7.1])
    centre = np.array([3.6, 11, 11, 0.07, 0.55, 6.3, 69, 3.8, 9.5, 408, 18, 357, 13])
    urban = (rng.random(506) < 0.26)[:, None]
    latent = rng.standard_normal((506, 3)) @ rng.standard_normal((3, 13)) / 2 + 0.6 * rng.standard_normal(
        (506, 13)
    )
    X = np.abs(centre + scale * (latent + 1.2 * urban * rng.standard_normal(13)))
    y = 22.5 + 9 * (latent @ rng.standard_normal(13)) / np.sqrt(13) + 3 * rng.standard_normal(506)
    return Decoded(X, np.clip(y, 5, 50))
