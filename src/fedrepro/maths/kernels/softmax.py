"""The local loop of multinomial logistic regression, compiled; products of whole batches go to BLAS.

Its plain twin is linear.walk_plain with the model's own gradient.
"""

import numpy as np
from numba import njit

from fedrepro.maths.kernels.linear import DESCENT, LAZY
from fedrepro.maths.kernels.shrinkage import FAST, L1_BALL, ZERO, absolute_sum, prox


@njit(cache=True, fastmath=FAST)
def walk(psi, strength, mode, X, y, classes, visits, lengths, batch, start, rate, shrink, out):
    """Every chosen client's local steps, from `start` into its row of `out`; W row by row, then the biases. All in
    the precision of X.

    On the way W is kept class by class: its products with a batch have long rows then. No ψ here minds the order.
    """
    d = X.shape[1]
    weights = d * classes
    examples, slopes = np.empty((batch, d), X.dtype), np.empty((batch, classes), X.dtype)
    begin, state = np.empty(start.size, X.dtype), np.empty(start.size, X.dtype)
    step, point = np.empty((classes, d), X.dtype), np.empty(start.size, X.dtype)
    begin[:weights] = start[:weights].reshape(d, classes).T.copy().reshape(weights)
    begin[weights:] = start[weights:]
    for c in range(len(lengths)):
        state[:] = begin
        for k, low in enumerate(range(0, lengths[c], batch)):
            rows = visits[c, low : min(low + batch, lengths[c])]
            at = state
            if mode == LAZY and not untouched(psi, strength, state[:weights]):
                point[:] = state
                prox(psi, strength, shrink + rate * k, point[:weights], 1)
                at = point
            seen, s = examples[: rows.size], slopes[: rows.size]
            for i in range(rows.size):
                to, x = seen[i], X[rows[i]]
                for j in range(d):
                    to[j] = x[j]
            np.dot(seen, at[:weights].reshape(classes, d).T, s)
            slope(s, at[weights:], y, rows, X.dtype.type(rate / rows.size))
            for i in range(rows.size):
                for j in range(classes):
                    state[weights + j] -= s[i, j]
            np.dot(s.T, seen, step)
            flat = step.reshape(weights)
            for j in range(weights):
                state[j] -= flat[j]
            if mode == DESCENT and psi != ZERO:
                prox(psi, strength, rate, state[:weights], 1)
        W, to = state[:weights].reshape(classes, d), out[c, :weights].reshape(d, classes)
        for j in range(d):
            for i in range(classes):
                to[j, i] = W[i, j]
        out[c, weights:] = state[weights:]


@njit(cache=True, fastmath=FAST, forceinline=True)
def untouched(psi, strength, v):
    """Whether the prox would leave v as it is, where that is quick to tell: it saves a copy."""
    return psi == ZERO or (psi == L1_BALL and absolute_sum(v) <= strength)


@njit(cache=True, fastmath=FAST, forceinline=True)
def slope(s, biases, y, rows, factor):
    """From the products with W to `factor` times the slope of every example's cross-entropy in them, in place."""
    for i in range(rows.size):
        top = s[i, 0] + biases[0]
        for j in range(biases.size):
            s[i, j] += biases[j]
            top = max(top, s[i, j])
        total = s.dtype.type(0.0)
        for j in range(biases.size):
            s[i, j] = np.exp(s[i, j] - top)
            total += s[i, j]
        for j in range(biases.size):
            s[i, j] *= factor / total
        s[i, y[rows[i]]] -= factor
