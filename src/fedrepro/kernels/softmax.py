"""The local loop of multinomial logistic regression, compiled; products of whole batches go to BLAS.

Its plain twin is linear.walk_plain with the model's own gradient.
"""

import numpy as np
from numba import njit

from fedrepro.kernels.linear import DESCENT, LAZY
from fedrepro.kernels.shrinkage import FAST, ZERO, prox


@njit(cache=True, fastmath=FAST)
def walk(psi, strength, mode, X, y, classes, visits, lengths, batch, start, rate, shrink, out):
    """Every chosen client's local steps, from `start` into its row of `out`; W row by row, then the biases. All in
    the precision of X."""
    d = X.shape[1]
    weights = d * classes
    examples = np.empty((batch, d), X.dtype)
    point = np.empty(start.size, X.dtype)
    for c in range(len(lengths)):
        state = out[c]
        state[:] = start
        for k, low in enumerate(range(0, lengths[c], batch)):
            rows = visits[c, low : min(low + batch, lengths[c])]
            at = state
            if mode == LAZY and psi != ZERO:
                point[:] = state
                prox(psi, strength, shrink + rate * k, point[:weights], 1)
                at = point
            seen = examples[: rows.size]
            for i in range(rows.size):
                seen[i] = X[rows[i]]
            slopes = seen @ at[:weights].reshape(d, classes)
            for i in range(rows.size):
                s = slopes[i]
                s += at[weights:]
                s -= s.max()
                s[:] = np.exp(s)
                s /= s.sum()
                s[y[rows[i]]] -= 1.0
                s *= X.dtype.type(rate / rows.size)
            for i in range(rows.size):
                state[weights:] -= slopes[i]
            step = (seen.T @ slopes).reshape(weights)
            for j in range(weights):
                state[j] -= step[j]
            if mode == DESCENT and psi != ZERO:
                prox(psi, strength, rate, state[:weights], 1)
