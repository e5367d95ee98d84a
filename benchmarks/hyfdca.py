"""Speed of HyFDCA's outer iteration on data of the shapes of covtype and of the newsgroups, dense and sparse.

Both must read all data once; the compiled coordinate ascent has a NumPy twin.
"""

import numpy as np
import scipy.sparse
from measuring import line, reading, seconds
from threadpoolctl import threadpool_limits

from fedrepro.algorithms.hyfdca import hyfdca
from fedrepro.datasets.partition import hybrid
from fedrepro.datasets.preprocess import unit_rows
from fedrepro.federation.hybrid import HybridClients
from fedrepro.federation.rectangles import Rectangles
from fedrepro.maths.kernels.dual_ascent import ascend, ascend_plain
from fedrepro.maths.seeds import stream

CLIENTS = "10x4"


def dense(n: int, d: int):
    return unit_rows(stream(0, "benchmark", "dense").random((n, d)))


def sparse(n: int, d: int, words: int):
    """Rows of at most so many non-zeros; columns of low number are frequent, as words are."""
    rng = stream(0, "benchmark", "sparse")
    columns = (d * rng.random(n * words) ** 3).astype(int)
    entries = (rng.random(n * words), (np.repeat(np.arange(n), words), columns))
    return scipy.sparse.csr_array(unit_rows(scipy.sparse.csr_array(entries, shape=(n, d))))


def labels(n: int):
    return np.where(stream(0, "benchmark", "labels").random(n) < 0.5, 1.0, -1.0)


def size(X) -> int:
    """Bytes."""
    return X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes


def outer_iteration(words: str, X, lam: float) -> dict:
    """Everybody present, H = 300."""
    y = labels(X.shape[0])
    data = Rectangles(X, y, *hybrid(*X.shape, CLIENTS, stream(0, "benchmark", "cut")), lam)
    rounds = hyfdca(HybridClients(data), inner=300)
    next(rounds)  # the squared lengths are exchanged once
    ours = seconds(lambda: next(rounds))
    return line(f"HyFDCA, {words}, an outer iteration", ours, None, reading(size(X)), "reading the data")


def epoch(X) -> dict:
    n, d = X.shape
    y, square = labels(n), np.asarray(X.multiply(X).sum(axis=1)).ravel()
    order = stream(0, "benchmark", "order").permutation(n)

    def run(kernel):
        kernel(X, y, np.zeros(n), np.zeros(n), square, order, 0.1, 1.0, np.zeros(d))

    run(ascend)
    ours, plain = seconds(lambda: run(ascend), 3), seconds(lambda: run(ascend_plain), best_of=1)
    return line("HyFDCA's dual ascent, an epoch", ours, plain, reading(size(X)), "reading the data")


def run(small: bool) -> list[dict]:
    with threadpool_limits(1):
        n, d = (400, 20) if small else (581_012, 54)
        wide = sparse(200, 500, 10) if small else sparse(11_314, 130_107, 160)
        return [
            outer_iteration(f"{n:,} x {d} dense, {CLIENTS} clients", dense(n, d), 5e-5),
            outer_iteration(f"{wide.shape[0]:,} x {wide.shape[1]:,} sparse, {CLIENTS} clients", wide, 1e-5),
            epoch(scipy.sparse.csr_array(wide[:1000, :5000])),
        ]
