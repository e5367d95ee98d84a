"""Local loops of a linear model with one output: squared and logistic loss, an intercept, any ψ of shrinkage.py.

`walk` is compiled, `walk_plain` is the same in NumPy. A parameter vector is the weights and then the
intercept, which ψ never touches. Yuan, Zaheer & Reddi 2021, Algorithms 1-5, lines "on client".
"""

import numpy as np
from numba import njit

from fedrepro.maths.kernels.shrinkage import FAST, ZERO, copy, prox
from fedrepro.maths.kernels.sigmoid import sigmoid

SQUARED, LOGISTIC = 0, 1
DESCENT, LAZY, SUBGRADIENT = range(
    3
)  # prox after the step; dual averaging, prox before it; ψ by its subgradient


@njit(cache=True, fastmath=FAST, forceinline=True)
def predict(X, rows, w, out):
    """out_i = X[rows_i]·w, five rows at a time: they come from memory side by side, and w is read less often."""
    fives = rows.size - rows.size % 5
    for i in range(0, fives, 5):
        a, b, c, d, e = X[rows[i]], X[rows[i + 1]], X[rows[i + 2]], X[rows[i + 3]], X[rows[i + 4]]
        p = q = r = s = t = 0.0
        for j in range(w.size):
            p += a[j] * w[j]
            q += b[j] * w[j]
            r += c[j] * w[j]
            s += d[j] * w[j]
            t += e[j] * w[j]
        out[i], out[i + 1], out[i + 2], out[i + 3], out[i + 4] = p, q, r, s, t
    for i in range(fives, rows.size):
        a, p = X[rows[i]], 0.0
        for j in range(w.size):
            p += a[j] * w[j]
        out[i] = p


@njit(cache=True, fastmath=FAST, forceinline=True)
def subtract(X, rows, s, state):
    """state ← state − Σ_i s_i X[rows_i], two rows at a time."""
    for i in range(0, rows.size - 1, 2):
        a, b, f, g = X[rows[i]], X[rows[i + 1]], s[i], s[i + 1]
        for j in range(state.size):
            state[j] -= f * a[j] + g * b[j]
    if rows.size % 2:
        a, f = X[rows[rows.size - 1]], s[rows.size - 1]
        for j in range(state.size):
            state[j] -= f * a[j]


@njit(cache=True, fastmath=FAST)
def walk(loss, scale, psi, strength, side, mode, X, y, visits, lengths, batch, start, rate, shrink, out):
    """Every chosen client's local steps, from `start` into its row of `out`.

    `visits[c]` are the rows client c looks at, in order, cut into batches; the last one may be smaller.
    scale multiplies the squared loss: 1 for (u − y)², ½ for half of it.
    """
    d = X.shape[1]
    point = np.empty(d + 1)
    slopes = np.empty(batch)
    for c in range(len(lengths)):
        state = out[c]
        copy(start, state)
        for k, low in enumerate(range(0, lengths[c], batch)):
            high = min(low + batch, lengths[c])
            copy(state, point)
            if mode == LAZY and psi != ZERO:
                prox(psi, strength, shrink + rate * k, point[:d], side)
            rows, s = visits[c, low:high], slopes[: high - low]
            predict(X, rows, point[:d], s)
            for i in range(s.size):
                u, target = s[i] + point[d], y[rows[i]]
                slope = 2.0 * scale * (u - target) if loss == SQUARED else sigmoid(u) - target
                s[i] = slope * rate / s.size
            if mode == SUBGRADIENT:
                for j in range(d):
                    state[j] -= rate * strength * np.sign(point[j])
            subtract(X, rows, s, state[:d])
            state[d] -= s.sum()
            if mode == DESCENT and psi != ZERO:
                prox(psi, strength, rate, state[:d], side)


@njit(cache=True, fastmath=FAST, forceinline=True)
def pass_on(state, old, step, new, after, before):
    """Finish the step with the row `old`, shrink by `after`, and predict the row `new` at the point shrunk by `before`:
    state and rows are read once."""
    total = 0.0
    for j in range(state.size):
        v = state[j] - step * old[j]
        v -= min(max(v, -after), after)
        state[j] = v
        total += (v - min(max(v, -before), before)) * new[j]
    return total


@njit(cache=True, fastmath=FAST)
def walk_single(loss, scale, strength, mode, X, y, visits, lengths, start, rate, shrink, out):
    """`walk` for batches of one example and ψ = strength·‖·‖₁: a step and the next prediction are one pass. DESCENT and
    LAZY only."""
    d = X.shape[1]
    for c in range(len(lengths)):
        state, step, last = out[c], 0.0, 0
        copy(start, state)
        for k in range(lengths[c]):
            row = visits[c, k]
            after = rate * strength if mode == DESCENT and k > 0 else 0.0
            before = (shrink + rate * k) * strength if mode == LAZY else 0.0
            u = pass_on(state[:d], X[last if k > 0 else row], step, X[row], after, before) + state[d]
            slope = 2.0 * scale * (u - y[row]) if loss == SQUARED else sigmoid(u) - y[row]
            step, last = slope * rate, row
            state[d] -= step
        after = rate * strength if mode == DESCENT and lengths[c] > 0 else 0.0
        pass_on(state[:d], X[last], step, X[last], after, 0.0)


def walk_plain(gradient, mirror, mode, visits, lengths, batch, start, rate, shrink, out):
    """The same for any loss and any mirror map: `gradient(point, rows)` is the mean over a batch."""
    for c, length in enumerate(lengths):
        state = start.copy()
        for k, low in enumerate(range(0, length, batch)):
            rows = visits[c, low : min(low + batch, length)]
            if mode == LAZY:
                point = mirror.primal(state, shrink + rate * k)
                state = state - rate * gradient(point, rows)
            elif mode == SUBGRADIENT:
                state = state - rate * (gradient(state, rows) + mirror.psi.subgradient(state))
            else:
                state = mirror.primal(mirror.dual(state) - rate * gradient(state, rows), rate)
        out[c] = state
