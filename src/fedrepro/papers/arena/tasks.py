"""What is to be learnt: a matrix of features, a target, and an order in which neighbours are alike."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse

from fedrepro import datasets
from fedrepro.datasets.mushroom import MISSING
from fedrepro.datasets.preprocess import one_hot, pixels, signs, unit_interval, with_ones, without_missing
from fedrepro.maths.seeds import stream

LOGISTIC = ("fmnist", "w8a", "mushroom", "covtype", "mnist", "news20")
SQUARES = ("online-news", "msd-sample", "boston")
BLOCK = 4  # pixels on a side that are averaged: 28 x 28 images become 7 x 7


@dataclass(frozen=True)
class Task:
    X: np.ndarray
    y: np.ndarray  # ±1, or a number in [0, 1]
    order: np.ndarray  # rows by their own label: neighbours are alike
    loss: str
    about: dict


@lru_cache(maxsize=4)
def task(name: str, seed: int, rows: int, columns: int) -> Task:
    """So many random rows of a dataset (all where it has fewer), and of its features those that vary most, in [0, 1]."""
    dataset = datasets.load(name)
    usable = without_missing(dataset.X, MISSING) if name == "mushroom" else np.arange(dataset.X.shape[0])
    taken = np.sort(stream(seed, "arena", name).permutation(usable)[:rows])
    X, label = features(name, dataset.X, taken), np.asarray(dataset.y)[taken]
    if X.shape[1] > columns:
        X = X[:, np.sort(np.argsort(-X.std(axis=0), kind="stable")[:columns])]
    y = target(name, label)
    about = {"origin": dataset.origin, "title": dataset.title, "checksum": dataset.checksum}
    loss = "logistic" if name in LOGISTIC else "squares"
    return Task(X, y, np.argsort(label, kind="stable"), loss, about)


def features(name: str, X, rows: np.ndarray) -> np.ndarray:
    if name in ("fmnist", "mnist"):
        images = pixels(X[rows]).reshape(len(rows), 28 // BLOCK, BLOCK, 28 // BLOCK, BLOCK)
        return images.mean(axis=(2, 4)).reshape(len(rows), -1)
    if name == "mushroom":
        return one_hot(X[rows])
    if scipy.sparse.issparse(X):
        part = scipy.sparse.csr_array(X)[rows]
        common = np.argsort(-np.bincount(part.indices, minlength=part.shape[1]), kind="stable")[:1000]
        return part[:, np.sort(common)].toarray().astype(float)
    return unit_interval(X[rows])


def target(name: str, label: np.ndarray) -> np.ndarray:
    """Two classes where there are several: digits even or odd, clothes of the first five kinds, class two of the
    forest; else what the dataset has."""
    if name == "mnist":
        return np.where(label % 2 == 0, 1.0, -1.0)
    if name == "fmnist":
        return np.where(label < 5, 1.0, -1.0)
    if name == "covtype":
        return signs(label, 2)
    return signs(label, 1) if name in LOGISTIC else unit_interval(label)


def dealt(found: Task, clients: int, skew: bool, seed: int) -> tuple[list, list]:
    """Equal shares: of neighbours where clients are to differ, else at random. A column of ones is added."""
    order = found.order if skew else stream(seed, "arena", "deal").permutation(len(found.y))
    share = len(order) // clients
    parts = order[: share * clients].reshape(clients, share)
    X = with_ones(found.X)
    return [X[part] for part in parts], [found.y[part] for part in parts]


def bowls(kappa: float, clients: int, rows: int, columns: int, skew: bool, seed: int) -> tuple[list, list]:
    """Least squares whose curvatures are even in the logarithm from 1 to κ. Clients who differ have axes and a truth of
    their own, the others share both."""
    rng = stream(seed, "arena", "bowls", f"{kappa:g}")
    sizes = np.sqrt(rows * np.geomspace(1.0, kappa, columns))
    common, truth = np.linalg.qr(rng.standard_normal((columns, columns)))[0], rng.standard_normal(columns)
    A, b = [], []
    for _ in range(clients):
        U = np.linalg.qr(rng.standard_normal((max(rows, columns), columns)))[0]
        own = np.linalg.qr(rng.standard_normal((columns, columns)))[0]
        axes, x = (own, truth + rng.standard_normal(columns)) if skew else (common, truth)
        A.append((U * sizes) @ axes.T)
        b.append(A[-1] @ x + 0.1 * rng.standard_normal(len(U)))
    return A, b
