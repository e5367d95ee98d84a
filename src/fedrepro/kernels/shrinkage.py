"""Compiled proximal maps, in place, for the local loops. Their plain twins are in proxes.py."""

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz"}  # vectorised sums, but infinities and NaNs keep their meaning

# How a compiled loop knows ψ.
CODES = {"zero": 0, "l1": 1, "l2": 2, "nuclear": 3, "l1_ball": 4, "l2_ball": 5}
ZERO, L1, L2, NUCLEAR, L1_BALL, L2_BALL = range(6)

ORTHOGONAL = 1e-13  # |cos| of two rows that count as orthogonal
SWEEPS = 40


@njit(cache=True, fastmath=FAST)
def prox(psi, strength, t, v, basis):
    """prox_{tψ}(v) in place; `basis` is the warm start of the nuclear norm."""
    if psi == L1:
        soft(v, t * strength)
    elif psi == NUCLEAR:
        threshold(v, t * strength, basis)
    elif psi == L1_BALL:
        l1_ball(v, strength)
    elif psi == L2_BALL:
        l2_ball(v, strength)
    elif psi == L2:
        v /= 1.0 + 2.0 * t * strength


@njit(cache=True, fastmath=FAST)
def soft(v, t):
    for j in range(v.size):
        a = v[j]
        v[j] = a - min(max(a, -t), t)


@njit(cache=True, fastmath=FAST)
def l1_ball(v, radius):
    total = 0.0
    for j in range(v.size):
        total += abs(v[j])
    if total <= radius or not np.isfinite(total):
        return
    soft(v, l1_threshold(v, radius))


@njit(cache=True, fastmath=FAST)
def l1_threshold(v, radius):
    """θ with Σ max(|v_j| − θ, 0) = radius: drop entries below the running estimate until none is left to
    drop (Michelot's method, finite and exact)."""
    kept = np.abs(v)
    n = kept.size
    while True:
        total = 0.0
        for j in range(n):
            total += kept[j]
        theta = (total - radius) / n
        left = 0
        for j in range(n):
            if kept[j] > theta:
                kept[left] = kept[j]
                left += 1
        if left == n:
            return theta
        n = left


@njit(cache=True, fastmath=FAST)
def l2_ball(v, radius):
    total = 0.0
    for j in range(v.size):
        total += v[j] * v[j]
    if total > radius * radius:
        v *= radius / np.sqrt(total)


@njit(cache=True, fastmath=FAST)
def threshold(v, t, basis):
    """Singular-value thresholding of the matrix v by one-sided Jacobi rotations.

    Rows of `basis` are the right singular vectors found last time: from step to step they hardly turn, so
    that a few sweeps do where a fresh decomposition needs many. Calling LAPACK instead takes as long and
    makes the loops around it twenty seconds slower to compile.
    """
    if t <= 0.0:
        return
    side = len(basis)
    A = v.reshape(v.size // side, side)
    Y = np.zeros((side, len(A)))  # rows: images of the basis vectors
    for i in range(side):
        for k in range(len(A)):
            Y[i, k] = product(basis[i], A[k])
    norms = np.empty(side)
    for _ in range(SWEEPS):
        largest = 0.0
        for i in range(side):
            norms[i] = product(Y[i], Y[i])
            largest = max(largest, norms[i])
        if not np.isfinite(largest) or not sweep(Y, basis, norms, t * t / side):
            break
    A[:, :] = 0.0
    for i in range(side):
        sigma = np.sqrt(norms[i])
        if not sigma <= t:
            for k in range(len(A)):
                turn(A[k], basis[i], (1.0 - t / sigma) * Y[i, k])


@njit(cache=True, fastmath=FAST)
def sweep(Y, basis, norms, small):
    """Rotate every pair of rows of Y (and of the basis) that are not orthogonal; True if any was turned.

    Rows whose squared norm is below `small` = t²/columns cannot reach the threshold t even together: they
    need not be told apart, only kept apart from the large ones.
    """
    turned = False
    for i in range(len(Y) - 1):
        for j in range(i + 1, len(Y)):
            a, b = norms[i], norms[j]
            low, high = min(a, b), max(a, b)
            if high <= small:
                continue
            g = product(Y[i], Y[j])
            if g * g <= ORTHOGONAL * ORTHOGONAL * high * (high if low <= small else low):
                continue
            turned = True
            zeta = (b - a) / (2.0 * g)
            tangent = 1.0 / (abs(zeta) + np.sqrt(1.0 + zeta * zeta))
            if zeta < 0:
                tangent = -tangent
            c = 1.0 / np.sqrt(1.0 + tangent * tangent)
            rotate(Y[i], Y[j], c, c * tangent)
            rotate(basis[i], basis[j], c, c * tangent)
            norms[i] = a - tangent * g
            norms[j] = b + tangent * g
    return turned


@njit(cache=True, fastmath=FAST)
def rotate(a, b, c, s):
    for k in range(a.size):
        x, y = a[k], b[k]
        a[k] = c * x - s * y
        b[k] = s * x + c * y


@njit(cache=True, fastmath=FAST)
def product(a, b):
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@njit(cache=True, fastmath=FAST)
def turn(a, b, factor):
    for k in range(a.size):
        a[k] += factor * b[k]
