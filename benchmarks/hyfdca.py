"""Speed of HyFDCA's outer iteration, as ratios taken in one run.

An outer iteration on all of covtype, and on the newsgroups, against one pass of X @ w and X.T @ alpha. Both sides
store the data alike: dense for covtype, its non-zeros for the newsgroups.
"""

import time

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

from fedrepro import datasets
from fedrepro.algorithms.hyfdca import hyfdca
from fedrepro.datasets.partition import hybrid
from fedrepro.datasets.preprocess import signs, unit_interval, unit_rows
from fedrepro.federation.hybrid import HybridClients
from fedrepro.federation.rectangles import Rectangles
from fedrepro.maths.kernels.dual_ascent import ascend, ascend_plain
from fedrepro.maths.seeds import stream

CLIENTS = (10, 4)
TARGET = 3.0


def seconds(work, repeat: int = 5) -> float:
    """The fastest of a few runs: what other work on the machine disturbs least."""
    spans = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        spans.append(time.perf_counter() - begin)
    return min(spans)


def outer_iteration(name: str, X, y, lam: float) -> dict:
    """Everybody present, H = 300."""
    w, alpha = stream(0, "benchmark").standard_normal(X.shape[1]), y / 2
    data = Rectangles(X, y, *hybrid(*X.shape, *CLIENTS, stream(0, "benchmark", "cut")), lam)
    rounds = hyfdca(HybridClients(data), inner=300)
    next(rounds)  # the squared lengths are exchanged once
    plain = seconds(lambda: (X @ w, X.T @ alpha))
    ours = seconds(lambda: next(rounds))
    return {"name": name, "ours": ours, "plain": plain, "ratio": ours / plain, "target": TARGET}


def covtype() -> dict:
    raw = datasets.load("covtype")
    X = unit_rows(unit_interval(raw.X))
    return outer_iteration(
        "outer iteration, covtype, 10 x 4 clients: seconds against a pass over X", X, signs(raw.y, 2), 5e-5
    )


def newsgroups() -> dict:
    raw = datasets.load("news20")
    X = scipy.sparse.csr_array(raw.X).astype(float)
    name = "outer iteration, newsgroups, 10 x 4 clients: seconds against a pass over the non-zeros"
    return outer_iteration(name, X, signs(raw.y, 1), 1e-5)


def epoch() -> dict:
    """The compiled coordinate ascent against its NumPy twin: here the plain side is the slower one."""
    raw = datasets.load("news20")
    X = scipy.sparse.csr_array(scipy.sparse.csr_array(raw.X)[:1000, :5000]).astype(float)
    y, square = signs(raw.y[:1000], 1), np.asarray(X.multiply(X).sum(axis=1)).ravel()
    order = stream(0, "benchmark", "order").permutation(1000)

    def run(kernel):
        kernel(X, y, np.zeros(1000), np.zeros(1000), square, order, 0.1, 1.0, np.zeros(5000))

    run(ascend)
    ours, plain = seconds(lambda: run(ascend)), seconds(lambda: run(ascend_plain), 1)
    return {
        "name": "dual ascent epoch: compiled against NumPy",
        "ours": ours,
        "plain": plain,
        "ratio": ours / plain,
        "target": 0.1,
    }


def run() -> list[dict]:
    with threadpool_limits(1):
        return [covtype(), newsgroups(), epoch()]


if __name__ == "__main__":
    for row in run():
        print(
            f"{row['name']}: {row['ours']:.4f} s, plain {row['plain']:.4f} s, ratio {row['ratio']:.2f} (target {row['target']:g})"
        )
