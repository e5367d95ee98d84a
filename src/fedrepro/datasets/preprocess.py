"""The papers' preprocessing: scale to [0,1], principal directions, one-hot, a column of ones, unit rows."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse

from fedrepro.datasets import DECODED, DataError, Dataset
from fedrepro.datasets.files import reading, written


def unit_interval(X: np.ndarray, reference: np.ndarray | None = None) -> np.ndarray:
    """Each column (or the one response) to [0,1] by the extremes of `reference`, which is X unless given.

    A constant column becomes 0. Rows beyond the reference's extremes land outside [0,1] and are left there.
    """
    X = np.asarray(X, np.float64)
    reference = X if reference is None else np.asarray(reference, np.float64)
    low, high = reference.min(axis=0), reference.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0)


def pixels(X: np.ndarray, precision=np.float64) -> np.ndarray:
    """Image bytes to [0,1]."""
    return np.asarray(X, precision) / np.asarray(255, precision)


@dataclass(frozen=True)
class Pca:
    """Principal directions of the training rows, largest variance first, and the mean that was taken off."""

    mean: np.ndarray  # zeros where not centred
    basis: np.ndarray  # columns x components
    spectrum: np.ndarray  # eigenvalue of each component

    def apply(self, X: np.ndarray) -> np.ndarray:
        return (X - self.mean) @ self.basis


def fit_pca(X: np.ndarray, components: int, centre: bool, slice_rows: int = 10_000) -> Pca:
    """Principal directions of [0,1]-scaled image bytes X, from the second moments summed slice by slice.

    The paper does not say whether it centres: both are stored and the experiments choose (`our choice`).
    Signs are fixed so that the entry of largest magnitude is positive.
    """
    n, d = X.shape
    if components > d:
        raise DataError(f"{components} principal directions of {d} columns")
    total, moments = np.zeros(d), np.zeros((d, d))
    for start in range(0, n, slice_rows):
        block = pixels(X[start : start + slice_rows])
        total += block.sum(axis=0)
        moments += block.T @ block
    mean = total / n if centre else np.zeros(d)
    values, vectors = np.linalg.eigh(moments / n - np.outer(mean, mean))
    basis = vectors[:, ::-1][:, :components]
    basis = basis * np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(components)])
    return Pca(mean, np.ascontiguousarray(basis), values[::-1][:components].clip(min=0))


def pca_path(name: str, centre: bool, root: str | Path = "data") -> Path:
    return Path(root) / DECODED / name / f"pca_{'centred' if centre else 'uncentred'}.npz"


def save_pca(pca: Pca, path: Path, checksum: str) -> None:
    with written(path) as temporary:
        np.savez(
            temporary, mean=pca.mean, basis=pca.basis, spectrum=pca.spectrum, checksum=np.array(checksum)
        )


def load_pca(dataset: Dataset, centre: bool, root: str | Path = "data") -> Pca:
    """The stored directions of a dataset; fitted once by the rule `pca`, on its training rows."""
    path = pca_path(dataset.name, centre, root)
    try:
        with reading(path), np.load(path, allow_pickle=False) as file:
            if str(file["checksum"]) != dataset.checksum:
                raise DataError(
                    f"{path}: fitted on other data than what is decoded now; remove it and run again"
                )
            return Pca(file["mean"], file["basis"], file["spectrum"])
    except FileNotFoundError:
        raise DataError(f"no principal directions at {path}: run `snakemake --cores 2 {path}`") from None


def one_hot(X: np.ndarray) -> np.ndarray:
    """A column of 0 and 1 for each value that occurs in each column, values in increasing order."""
    return np.hstack([X[:, [j]] == np.unique(X[:, j]) for j in range(X.shape[1])]).astype(np.float64)


def without_missing(X: np.ndarray, marker: int) -> np.ndarray:
    """The rows in which no value is the missing mark."""
    return np.flatnonzero(~np.equal(X, marker).any(axis=1))


def with_ones(X: np.ndarray) -> np.ndarray:
    return np.hstack([X, np.ones((len(X), 1))])


def unit_rows(X):
    """Each row scaled to Euclidean length one; a row of zeros stays. Sparse stays sparse."""
    if scipy.sparse.issparse(X):
        lengths = np.sqrt(np.bincount(
            np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.data.astype(np.float64) ** 2, X.shape[0]
        ))  # fmt: skip
        scale = np.repeat(np.where(lengths > 0, lengths, 1), np.diff(X.indptr))
        return scipy.sparse.csr_array((X.data / scale, X.indices, X.indptr), shape=X.shape)
    X = np.asarray(X, np.float64)
    lengths = np.sqrt((X**2).sum(axis=1, keepdims=True))
    return X / np.where(lengths > 0, lengths, 1)


def signs(y: np.ndarray, positive) -> np.ndarray:
    """+1 for the positive label, -1 for every other: one-vs-all."""
    return np.where(np.asarray(y) == positive, 1.0, -1.0)
