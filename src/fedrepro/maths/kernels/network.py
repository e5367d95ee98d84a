"""The local loop of a network of dense layers with ReLU on sparse inputs, compiled.

Its plain twin is linear.walk_plain with the model's own gradient. Most pixels of an image are zero: the first kernel, nearly
all of the weights, is read and changed only where the batch's are not.
"""

import numpy as np
from numba import njit

from fedrepro.maths.kernels import softmax
from fedrepro.maths.kernels.linear import DESCENT, LAZY
from fedrepro.maths.kernels.shrinkage import (
    CHUNK,
    FAST,
    L1,
    L1_BALL,
    L2_BALL,
    ZERO,
    copy,
    l2_ball,
    soft,
    soft_into,
)


@njit(cache=True, fastmath=FAST)
def walk(psi, strength, mode, sizes, pixels, y, visited, batch, rate, shrink, state):
    """One client's local steps through the rows it visits, in place: all kernels row by row, then all biases. `pixels` are the
    inputs as compressed rows: (where rows begin, columns, values)."""
    layers, widest = sizes.size - 1, sizes.max()
    kernels, biases = places(sizes)
    point, near = np.empty_like(state), np.zeros((layers, 2))
    out = np.empty(batch * widest, state.dtype)
    slope, before = np.empty_like(out), np.empty_like(out)
    begins = np.zeros(
        (layers, batch + 1), np.int64
    )  # what entered each layer but the first, as compressed rows
    columns, values = (
        np.empty((layers, batch * widest), np.int32),
        np.empty((layers, batch * widest), state.dtype),
    )
    each = np.arange(batch)
    for k, low in enumerate(range(0, visited.size, batch)):
        rows = visited[low : low + batch]
        m, at = rows.size, state
        if mode == LAZY and psi != ZERO:
            at = point
            copy(state[biases[0] :], point[biases[0] :])
            for i in range(layers):
                own = slice(kernels[i], kernels[i + 1])
                prox(psi, strength, shrink + rate * k, state[own], near[i], point[own])
        for i in range(layers):
            b = sizes[i + 1]
            W, to = at[kernels[i] : kernels[i + 1]].reshape(sizes[i], b), out[: m * b].reshape(m, b)
            if i == 0:
                forward(pixels[0], pixels[1], pixels[2], rows, W, to)
            else:
                forward(begins[i], columns[i], values[i], each[:m], W, to)
            if i + 1 < layers:
                rectified(to, at[biases[i] : biases[i + 1]], begins[i + 1], columns[i + 1], values[i + 1])
        last = out[: m * sizes[layers]].reshape(m, sizes[layers])
        softmax.slope(last, at[biases[layers - 1] : biases[layers]], y, rows, state.dtype.type(rate / m))
        copy(out[: last.size], slope[: last.size])
        for i in range(layers - 1, -1, -1):
            a, b = sizes[i], sizes[i + 1]
            own = slope[: m * b].reshape(m, b)
            W = state[kernels[i] : kernels[i + 1]].reshape(a, b)
            if i == 0:
                backward(pixels[0], pixels[1], pixels[2], rows, own, W)
            else:
                seen, to = at[kernels[i] : kernels[i + 1]].reshape(a, b), before[: m * a].reshape(m, a)
                returned(begins[i], columns[i], own, seen, to)
                backward(begins[i], columns[i], values[i], each[:m], own, W)
            for row in range(m):
                for j in range(b):
                    state[biases[i] + j] -= own[row, j]
            slope, before = before, slope
        if mode == DESCENT and psi != ZERO:
            for i in range(layers):
                own = state[kernels[i] : kernels[i + 1]]
                prox_in_place(psi, strength, rate, own, near[i])


@njit(cache=True, forceinline=True)
def places(sizes):
    """Where every kernel and every vector of biases begins, and the last ends."""
    layers = sizes.size - 1
    kernels, biases = np.zeros(layers + 1, np.int64), np.zeros(layers + 1, np.int64)
    for i in range(layers):
        kernels[i + 1] = kernels[i] + sizes[i] * sizes[i + 1]
    biases[0] = kernels[layers]
    for i in range(layers):
        biases[i + 1] = biases[i] + sizes[i + 1]
    return kernels, biases


@njit(cache=True, fastmath=FAST, forceinline=True)
def forward(begin, columns, values, rows, W, out):
    """Some compressed rows times W, four entries at a time."""
    b = W.shape[1]
    for i in range(rows.size):
        t, last = begin[rows[i]], begin[rows[i] + 1]
        to = out[i]
        for j in range(b):
            to[j] = 0.0
        while t + 4 <= last:
            p, q, r, s = W[columns[t]], W[columns[t + 1]], W[columns[t + 2]], W[columns[t + 3]]
            u, v, w, x = values[t], values[t + 1], values[t + 2], values[t + 3]
            for j in range(b):
                to[j] += u * p[j] + v * q[j] + w * r[j] + x * s[j]
            t += 4
        while t < last:
            p, u = W[columns[t]], values[t]
            for j in range(b):
                to[j] += u * p[j]
            t += 1


@njit(cache=True, fastmath=FAST, forceinline=True)
def backward(begin, columns, values, rows, slope, W):
    """W less what the slopes say of it, in place: rowsᵀ slope."""
    b = W.shape[1]
    for i in range(rows.size):
        own = slope[i]
        for t in range(begin[rows[i]], begin[rows[i] + 1]):
            to, u = W[columns[t]], values[t]
            for j in range(b):
                to[j] -= u * own[j]


@njit(cache=True, fastmath=FAST, forceinline=True)
def returned(begin, columns, slope, W, out):
    """The slopes in what entered a layer, where that was not zero: slope Wᵀ."""
    b = W.shape[1]
    for i in range(len(out)):
        own, to = slope[i], out[i]
        for j in range(to.size):
            to[j] = 0.0
        for t in range(begin[i], begin[i + 1]):
            p, some = W[columns[t]], out.dtype.type(0.0)
            for j in range(b):
                some += p[j] * own[j]
            to[columns[t]] = some


@njit(cache=True, forceinline=True)
def rectified(out, bias, begin, columns, values):
    """max(out + bias, 0), as compressed rows."""
    t = 0
    for i in range(len(out)):
        for j in range(bias.size):
            value = out[i, j] + bias[j]
            if not value <= 0:  # what is not a number goes on
                columns[t], values[t] = j, value
                t += 1
        begin[i + 1] = t


@njit(cache=True, fastmath=FAST, forceinline=True)
def prox(psi, strength, t, v, near, out):
    """As softmax.prox; onto the l1 ball with as few readings of v as a good guess allows. `near`: the last threshold and how
    much it had changed."""
    if psi == L1_BALL:
        theta = l1_ball_near(v, strength, near)
        if theta == 0.0:
            copy(v, out)
        else:
            soft_into(v, theta, out)
    else:
        softmax.prox(psi, strength, t, v, 0.0, out)


@njit(cache=True, fastmath=FAST, forceinline=True)
def prox_in_place(psi, strength, t, v, near):
    """The same where v stands."""
    theta = 0.0
    if psi == L1_BALL:
        theta = l1_ball_near(v, strength, near)
    elif psi == L1:
        theta = t * strength
    elif psi == L2_BALL:
        l2_ball(v, strength)
    if theta > 0.0:
        soft(v, theta)


@njit(cache=True, fastmath=FAST, forceinline=True)
def l1_ball_near(v, radius, near):
    """θ with Σ max(|v_j| − θ, 0) = radius, 0 inside the ball: Newton's method from where the last two steps lead. The first
    reading tells whether v lies in the ball as well."""
    theta = max(near[0] + near[1], 0.0)
    total, rest, count = beyond(v, theta)
    if total <= radius or not np.isfinite(total):
        return 0.0
    if count == 0:  # a guess beyond every entry
        theta, rest, count = 0.0, total, v.size
    left, close = (
        v.size + 1,
        np.sqrt(np.finfo(v.dtype).eps) * radius,
    )  # from which one step more leaves rounding alone
    while True:
        low = rest < radius
        theta = max(theta + (rest - radius) / count, 0.0)
        if abs(rest - radius) <= close or (count >= left and not low):
            break
        left = count if not low else v.size + 1
        _, rest, count = beyond(v, theta)
        if count == 0:
            break
    near[0], near[1] = theta, theta - near[0]
    return theta


@njit(cache=True, fastmath=FAST, forceinline=True)
def beyond(v, theta):
    """Σ |v_j|, Σ max(|v_j| − θ, 0), and how many of these are positive."""
    total, under, count = 0.0, 0.0, 0
    edge, zero, one = v.dtype.type(theta), v.dtype.type(0.0), v.dtype.type(1.0)
    for low in range(0, v.size, CHUNK):
        part = v[low : low + CHUNK]
        size, some, seen = (
            zero,
            zero,
            zero,
        )  # in v's precision, in which a chunk's count is exact: wide registers
        for j in range(part.size):
            entry = abs(part[j])
            size += entry
            some += entry if entry < edge else edge
            seen += one if entry > edge else zero
        total += size
        under += some
        count += int(seen)
    return total, total - under, count
