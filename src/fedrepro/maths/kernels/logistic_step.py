"""A full step θ + s of logistic regression in one pass over the rows, compiled.

A line search needs As; where it takes the full step, as it nearly always does near the optimum, the gradient there is
asked for next. Rows read for the first are still in the cache for the second.
"""

import numpy as np
from numba import njit

from fedrepro.maths.kernels.sigmoid import sigmoid

BLOCK = 64


@njit(cache=True, fastmath={"reassoc", "contract"})
def full_step(A, b, w, u, step, du, g):
    """du = A·step, and g = Aᵀ(w φ'(u + du, b)) for φ(u, b) = log(1 + exp(−bu)); all of du and g are written."""
    n, d = A.shape
    slope = np.empty(BLOCK)
    g[:] = 0.0
    for begin in range(0, n, BLOCK):
        rows = A[begin : begin + BLOCK]
        for i in range(len(rows)):
            row, s, k = rows[i], 0.0, begin + i
            for j in range(d):
                s += row[j] * step[j]
            du[k] = s
            slope[i] = -b[k] * w[k] * sigmoid(-b[k] * (u[k] + s))
        fours = len(rows) - len(rows) % 4
        for i in range(0, fours, 4):  # g is then read and written a quarter as often
            s0, s1, s2, s3 = slope[i], slope[i + 1], slope[i + 2], slope[i + 3]
            x0, x1, x2, x3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
            for j in range(d):
                g[j] += (s0 * x0[j] + s1 * x1[j]) + (s2 * x2[j] + s3 * x3[j])
        for i in range(fours, len(rows)):
            for j in range(d):
                g[j] += slope[i] * rows[i, j]
