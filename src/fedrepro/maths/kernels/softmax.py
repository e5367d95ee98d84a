"""The local loop of multinomial logistic regression, compiled: through the weights, or in the span of a client's examples.

Their plain twin is linear.walk_plain with the model's own gradient. W is kept class by class here: its products with
an example have long rows then. No ψ of these loops minds the order.
"""

import numpy as np
from numba import njit

from fedrepro.maths.kernels.linear import DESCENT, LAZY, subtract
from fedrepro.maths.kernels.shrinkage import (
    FAST,
    L1,
    L1_BALL,
    L2_BALL,
    ZERO,
    absolute_sum,
    copy,
    l1_ball_near,
    l2_ball,
    soft_into,
)

KNOWN = (ZERO, L1, L1_BALL, L2_BALL)  # the ψ of `walk`
SPANNED = (ZERO, L1_BALL, L2_BALL)  # and of `walk_span`


@njit(cache=True, fastmath=FAST)
def walk(psi, strength, mode, X, y, classes, visited, batch, start, rate, shrink, out):
    """One client's local steps through the rows it visits, from `start` into `out`; W row by row, then the biases. All
    in the precision of X."""
    d = X.shape[1]
    weights = d * classes
    slopes, column = np.empty((batch, classes), X.dtype), np.empty(batch, X.dtype)
    state, point = np.empty(start.size, X.dtype), np.empty(start.size, X.dtype)
    copy(start[:weights].reshape(d, classes).T.copy().reshape(weights), state[:weights])
    copy(start[weights:], state[weights:])
    W, theta = state[:weights].reshape(classes, d), 0.0
    for k, low in enumerate(range(0, visited.size, batch)):
        rows = visited[low : low + batch]
        at = state
        if mode == LAZY and psi != ZERO:
            at = point
            copy(state[weights:], point[weights:])
            theta = prox(psi, strength, shrink + rate * k, state[:weights], theta, point[:weights])
        s, own = slopes[: rows.size], column[: rows.size]
        products(X, rows, at[:weights].reshape(classes, d), s)
        slope(s, at[weights:], y, rows, X.dtype.type(rate / rows.size))
        for j in range(classes):
            for i in range(rows.size):
                own[i] = s[i, j]
                state[weights + j] -= s[i, j]
            subtract(X, rows, own, W[j])
        if mode == DESCENT and psi != ZERO:
            theta = prox(psi, strength, rate, state[:weights], theta, state[:weights])
    to = out[:weights].reshape(d, classes)
    for j in range(d):
        for i in range(classes):
            to[j, i] = W[i, j]
    copy(state[weights:], out[weights:])


@njit(cache=True, fastmath=FAST, forceinline=True)
def prox(psi, strength, t, v, theta, out):
    """prox_{tψ}(v) into `out`, for the ψ of KNOWN; the threshold of the l1 ball, sought from the last one."""
    if psi == L1_BALL:
        return l1_ball_near(v, strength, theta, out)
    soft_into(v, t * strength if psi == L1 else 0.0, out)
    if psi == L2_BALL:
        l2_ball(out, strength)
    return theta


@njit(cache=True, fastmath=FAST)
def walk_span(psi, strength, mode, G, P, norms, y, rows, batch, size, rate, A, biases):
    """One client's local steps in coordinates, for the ψ of SPANNED: (steps taken, what is kept of W_0).

    Every gradient is a combination of the client's n examples, so W = kept·W_0 − XᵀA with A of n rows, and the scores of
    a batch need n products each instead of the length of an example. G = XXᵀ; P are W_0's scores and A the coordinates,
    class by class; A (from zero) and the biases change in place. A projection onto the l2 ball is a scaling; its norm is
    followed from `size` = ‖W_0‖². That onto the l1 ball leaves the span: the walk ends before the first step at whose end
    it might act, by `size` = ‖W_0‖₁ and what the examples' l1 `norms` can have added.
    """
    classes = len(P)
    slopes, scores = np.empty((batch, classes), G.dtype), np.empty((batch, classes), G.dtype)
    kept = 1.0
    for k, low in enumerate(range(0, rows.size, batch)):
        seen = rows[low : low + batch]
        s, u = slopes[: seen.size], scores[: seen.size]
        products(G, seen, A, s)
        inside = 1.0
        if mode == LAZY and psi == L2_BALL and size > strength * strength:
            inside = strength / np.sqrt(size)
        old, factor = G.dtype.type(kept), G.dtype.type(inside)
        for i in range(seen.size):
            for j in range(classes):
                u[i, j] = old * P[j, seen[i]] - s[i, j]
                s[i, j] = factor * u[i, j]
        slope(s, biases, y, seen, G.dtype.type(rate / seen.size))
        if psi == L1_BALL:
            for i in range(seen.size):
                size += norms[seen[i]] * absolute_sum(s[i])
            if size > strength:
                return k, kept
        elif psi == L2_BALL:
            size += grown(G, seen, s, u)
        for i in range(seen.size):
            for j in range(classes):
                A[j, seen[i]] += s[i, j]
                biases[j] -= s[i, j]
        if mode == DESCENT and psi == L2_BALL and size > strength * strength:
            back = strength / np.sqrt(size)
            kept *= back
            A *= G.dtype.type(back)
            size = strength * strength
    return -(-rows.size // batch), kept


@njit(cache=True, fastmath=FAST, forceinline=True)
def products(X, rows, W, out):
    """out_ij = X[rows_i]·W_j, two rows and two classes at a time."""
    m, classes = rows.size, len(W)
    for i in range(0, m, 2):
        a, b = X[rows[i]], X[rows[min(i + 1, m - 1)]]
        for j in range(0, classes, 2):
            p, q = W[j], W[min(j + 1, classes - 1)]
            ap = aq = bp = bq = X.dtype.type(0.0)
            for t in range(a.size):
                ap += a[t] * p[t]
                aq += a[t] * q[t]
                bp += b[t] * p[t]
                bq += b[t] * q[t]
            out[i, j] = ap
            if j + 1 < classes:
                out[i, j + 1] = aq
            if i + 1 < m:
                out[i + 1, j] = bp
                if j + 1 < classes:
                    out[i + 1, j + 1] = bq


@njit(cache=True, fastmath=FAST, forceinline=True)
def grown(G, rows, s, scores):
    """‖W − Xᵀs‖² − ‖W‖² over some rows, `scores` = XW."""
    total = 0.0
    for i in range(rows.size):
        for j in range(s.shape[1]):
            total -= 2.0 * s[i, j] * scores[i, j]
        for k in range(rows.size):
            some = 0.0
            for j in range(s.shape[1]):
                some += s[i, j] * s[k, j]
            total += G[rows[i], rows[k]] * some
    return total


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
