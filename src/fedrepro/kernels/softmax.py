"""The local loop of multinomial logistic regression on images: compiled, and skipping pixels that are zero.

Its plain twin is linear.walk_plain with the model's own gradient.
"""

import numpy as np
from numba import njit

from fedrepro.kernels.linear import DESCENT, LAZY
from fedrepro.kernels.shrinkage import FAST, ZERO, prox


@njit(cache=True, fastmath=FAST)
def walk(psi, strength, mode, X, y, classes, visits, lengths, batch, start, rate, shrink, out):
    """Every chosen client's local steps, from `start` into its row of `out`; W row by row, then the biases."""
    d = X.shape[1]
    weights = d * classes
    point = np.empty(start.size)
    slopes = np.empty((batch, classes))
    for c in range(len(lengths)):
        state = out[c]
        state[:] = start
        for k, low in enumerate(range(0, lengths[c], batch)):
            high = min(low + batch, lengths[c])
            at = state
            if mode == LAZY and psi != ZERO:
                point[:] = state
                prox(psi, strength, shrink + rate * k, point[:weights], 1)
                at = point
            for i in range(low, high):
                row = visits[c, i]
                s = slopes[i - low]
                s[:] = at[weights:]
                for j in range(d):
                    x = X[row, j]
                    if x != 0:
                        for q in range(classes):
                            s[q] += x * at[j * classes + q]
                top = s.max()
                total = 0.0
                for q in range(classes):
                    s[q] = np.exp(s[q] - top)
                    total += s[q]
                for q in range(classes):
                    s[q] /= total
                s[y[row]] -= 1.0
                for q in range(classes):
                    s[q] *= rate / (high - low)
            for i in range(low, high):
                row = visits[c, i]
                s = slopes[i - low]
                for j in range(d):
                    x = X[row, j]
                    if x != 0:
                        for q in range(classes):
                            state[j * classes + q] -= x * s[q]
                for q in range(classes):
                    state[weights + q] -= s[q]
            if mode == DESCENT and psi != ZERO:
                prox(psi, strength, rate, state[:weights], 1)
