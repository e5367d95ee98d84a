"""Local stochastic subgradient steps on the hinge loss, with a pull towards an anchor.

One step on row i: w <- w - rate (ridge w + pull (w - anchor) - y_i x_i [y_i x_i . w < 1]). Over sparse rows w is
kept as s v + c anchor, so that a step costs the non-zeros of its row and not the length of w.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def descend_sparse(data, indices, indptr, y, w, anchor, order, rate, ridge, pull):
    """Visit the rows of a CSR matrix in `order`; `w` changes in place."""
    keep = 1.0 - rate * (ridge + pull)
    s, c = 1.0, 0.0
    for i in order:
        begin, end = indptr[i], indptr[i + 1]
        margin = 0.0
        for j in range(begin, end):
            margin += data[j] * (s * w[indices[j]] + c * anchor[indices[j]])
        s *= keep
        c = keep * c + rate * pull
        if abs(s) < 1e-9:  # fold the factor in before it underflows
            for j in range(w.shape[0]):
                w[j] *= s
            s = 1.0
        if y[i] * margin < 1.0:
            factor = rate * y[i] / s
            for j in range(begin, end):
                w[indices[j]] += factor * data[j]
    for j in range(w.shape[0]):
        w[j] = s * w[j] + c * anchor[j]


@njit(cache=True)
def descend_dense(X, y, w, anchor, order, rate, ridge, pull):
    """The same over the rows of a dense matrix."""
    width = X.shape[1]
    keep = 1.0 - rate * (ridge + pull)
    for i in order:
        margin = 0.0
        for j in range(width):
            margin += X[i, j] * w[j]
        factor = rate * y[i] if y[i] * margin < 1.0 else 0.0
        for j in range(width):
            w[j] = keep * w[j] + rate * pull * anchor[j] + factor * X[i, j]


def descend(X, y, w, anchor, order, rate, ridge, pull) -> None:
    """Dispatch on how the rows are stored."""
    if isinstance(X, np.ndarray):
        descend_dense(X, y, w, anchor, order, rate, ridge, pull)
    else:
        descend_sparse(X.data, X.indices, X.indptr, y, w, anchor, order, rate, ridge, pull)
