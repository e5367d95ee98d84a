"""Coordinate ascent on the dual of the hinge loss, one sample after the other with the margin kept fresh.

A row's dual variable moves to the maximiser of its own one-dimensional problem (Shalev-Shwartz & Zhang 2013,
section 6.2): y alpha <- clip(y alpha + scale (1 - y margin) / (sigma ||x||^2), 0, 1), with scale = lambda N.
The margin of a row is `offset` (what others contribute) plus x . v, where v gathers the changes made here.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def best_change(y, alpha, margin, square, scale, sigma):
    """What takes alpha to its maximiser. An empty row costs nothing: its dual goes straight to its bound."""
    new = 1.0
    if square > 0.0:
        new = min(1.0, max(0.0, y * alpha + scale * (1.0 - y * margin) / (sigma * square)))
    return y * new - alpha


@njit(cache=True)
def ascend_sparse(data, indices, indptr, y, alpha, offset, square, order, scale, sigma, v):
    """Visit the rows of a CSR matrix in `order`; `alpha` and `v` change in place."""
    for i in order:
        begin, end = indptr[i], indptr[i + 1]
        margin = offset[i]
        for j in range(begin, end):
            margin += data[j] * v[indices[j]]
        change = best_change(y[i], alpha[i], margin, square[i], scale, sigma)
        if change != 0.0:
            alpha[i] += change
            factor = sigma * change / scale
            for j in range(begin, end):
                v[indices[j]] += factor * data[j]


@njit(cache=True)
def ascend_dense(X, y, alpha, offset, square, order, scale, sigma, v):
    """The same over the rows of a dense matrix."""
    width = X.shape[1]
    for i in order:
        margin = offset[i]
        for j in range(width):
            margin += X[i, j] * v[j]
        change = best_change(y[i], alpha[i], margin, square[i], scale, sigma)
        if change != 0.0:
            alpha[i] += change
            factor = sigma * change / scale
            for j in range(width):
                v[j] += factor * X[i, j]


def ascend(X, y, alpha, offset, square, order, scale, sigma, v) -> None:
    """Dispatch on how the rows are stored."""
    if isinstance(X, np.ndarray):
        ascend_dense(X, y, alpha, offset, square, order, scale, sigma, v)
    else:
        ascend_sparse(X.data, X.indices, X.indptr, y, alpha, offset, square, order, scale, sigma, v)


def ascend_plain(X, y, alpha, offset, square, order, scale, sigma, v) -> None:
    """The NumPy twin of both kernels."""
    for i in order:
        row = X[i] if isinstance(X, np.ndarray) else X[[i]].toarray()[0]
        new = 1.0
        if square[i] > 0:
            step = scale * (1 - y[i] * (offset[i] + row @ v)) / (sigma * square[i])
            new = np.clip(y[i] * alpha[i] + step, 0, 1)
        change = y[i] * new - alpha[i]
        alpha[i] += change
        v += sigma * change / scale * row
