"""Compiled proximal maps, in place, for the local loops. Their plain twins are in proxes.py."""

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz"}  # vectorised sums, but infinities and NaNs keep their meaning

# How a compiled loop knows ψ.
CODES = {"zero": 0, "l1": 1, "l2": 2, "nuclear": 3, "l1_ball": 4, "l2_ball": 5}
ZERO, L1, L2, NUCLEAR, L1_BALL, L2_BALL = range(6)

ROUNDING = np.finfo(float).eps
QL_STEPS = 60  # for one eigenvalue; two or three are the rule
CHUNK = 1024  # entries summed in their own precision before they are added up in double


@njit(cache=True, fastmath=FAST)
def prox(psi, strength, t, v, side):
    """prox_{tψ}(v) in place; `side` is the row length of the matrix that the nuclear norm sees in v."""
    if psi == L1:
        soft(v, t * strength)
    elif psi == NUCLEAR:
        threshold(v, t * strength, side)
    elif psi == L1_BALL:
        l1_ball(v, strength)
    elif psi == L2_BALL:
        l2_ball(v, strength)
    elif psi == L2:
        v /= 1.0 + 2.0 * t * strength


@njit(cache=True, fastmath=FAST)
def soft(v, t):
    t = v.dtype.type(t)
    for j in range(v.size):
        a = v[j]
        v[j] = a - min(max(a, -t), t)


@njit(cache=True, fastmath=FAST)
def l1_ball(v, radius):
    total, _ = above(v, 0.0)
    if total <= radius or not np.isfinite(total):
        return
    soft(v, l1_threshold(v, radius))


@njit(cache=True, fastmath=FAST)
def l1_threshold(v, radius):
    """θ with Σ max(|v_j| − θ, 0) = radius: Newton's method on this convex, piecewise linear function.

    From the left every step lands left of the root or on it, on a piece with fewer entries: finite and exact. Once
    rounding puts entries back, there is no more to gain.
    """
    theta, left = 0.0, v.size + 1
    while True:
        total, count = above(v, theta)
        if count >= left or count == 0:
            return theta
        theta, left = (total - radius) / count, count


@njit(cache=True, fastmath=FAST)
def above(v, theta):
    """Sum and number of the |v_j| > θ."""
    total, count = 0.0, 0
    edge = v.dtype.type(theta)
    for low in range(0, v.size, CHUNK):
        part, seen = v[low : low + CHUNK], 0
        some = v.dtype.type(0.0)
        for j in range(part.size):
            a = abs(part[j])
            some += a if a > edge else v.dtype.type(0.0)
            seen += a > edge
        total += some
        count += seen
    return total, count


@njit(cache=True, fastmath=FAST)
def l2_ball(v, radius):
    total = 0.0
    for j in range(v.size):
        total += v[j] * v[j]
    if total > radius * radius:
        v *= radius / np.sqrt(total)


@njit(cache=True, fastmath=FAST)
def threshold(v, t, side):
    """Singular-value thresholding of the matrix v through the eigenpairs of its Gram matrix.

    A singular value near t is off by about ε‖V‖²/t, far below what a stochastic step can tell; and the
    eigenpairs take a third of the time of LAPACK's decomposition at the sizes of the paper.
    """
    if t <= 0.0:
        return
    A = v.reshape(v.size // side, side).astype(np.float64)
    G = A.T @ A
    if not np.isfinite(np.trace(G)):
        v[:] = np.nan  # a diverged state; the rotations below would not end well
        return
    squares, Z = eigenpairs(G, t * t)
    Y = A @ Z.T
    for i in range(side):
        factor = 1.0 - t / np.sqrt(squares[i]) if squares[i] > t * t else 0.0
        Y[:, i] *= factor
    v[:] = (Y @ Z).reshape(v.size)


@njit(cache=True, fastmath=FAST)
def eigenpairs(G, floor=-np.inf):
    """Eigenvalues of a symmetric matrix, which is overwritten, and the eigenvectors as rows.

    Householder's tridiagonal form, then QL steps with implicit shifts (Golub & Van Loan, sections 8.3.1 and
    8.3.3), all on contiguous rows. Eigenvalues that cannot exceed `floor` are not told apart: their rows span the
    space of their eigenvectors, and their values are only known to be below it.
    """
    n = len(G)
    diagonal, beside, Z = np.empty(n), np.zeros(n), np.eye(n)
    mirrors, scales, w = np.empty((n, n)), np.zeros(n), np.empty(n)
    for k in range(n - 2):
        v, p = mirrors[k, k + 1 :], w[k + 1 :]
        v[:] = G[k, k + 1 :]
        norm = np.sqrt(product(v, v))
        beside[k] = -norm if v[0] > 0 else norm
        v[0] -= beside[k]
        length = product(v, v)
        if length == 0.0:
            continue
        scales[k] = 2.0 / length
        for i in range(p.size):
            p[i] = scales[k] * product(G[k + 1 + i, k + 1 :], v)
        turn(p, v, -0.5 * scales[k] * product(p, v))
        for i in range(p.size):
            row, a, b = G[k + 1 + i, k + 1 :], v[i], p[i]
            for j in range(row.size):
                row[j] -= a * p[j] + b * v[j]
    for k in range(n):
        diagonal[k] = G[k, k]
    if n > 1:
        beside[n - 2] = G[n - 2, n - 1]
    for k in range(n - 3, -1, -1):
        v = mirrors[k, k + 1 :]
        for i in range(k + 1, n):
            z = Z[i, k + 1 :]
            turn(z, v, -scales[k] * product(z, v))
    small = (
        4.0 * ROUNDING * (np.abs(diagonal).max() + np.abs(beside).max())
    )  # what rounding itself leaves behind
    for first in range(n):
        rest = -np.inf  # the largest that an eigenvalue of what is left can be, by Gershgorin's circles
        for i in range(first, n):
            rest = max(rest, diagonal[i] + abs(beside[i]) + (abs(beside[i - 1]) if i > first else 0.0))
        if rest <= floor:
            break
        for _ in range(QL_STEPS):
            if not ql_step(diagonal, beside, Z, first, small):
                break
    return diagonal, Z


@njit(cache=True, fastmath=FAST)
def ql_step(diagonal, beside, Z, first, small):
    """One implicit QL step on the unreduced block that begins at `first`; False if that block is one number."""
    last = first
    while abs(beside[last]) > small:
        last += 1
    if last == first:
        return False
    g = (diagonal[first + 1] - diagonal[first]) / (2.0 * beside[first])
    r = np.sqrt(g * g + 1.0)
    g = diagonal[last] - diagonal[first] + beside[first] / (g + (r if g >= 0 else -r))  # Wilkinson's shift
    s, c, p = 1.0, 1.0, 0.0
    for i in range(last - 1, first - 1, -1):
        f, b = s * beside[i], c * beside[i]
        r = np.sqrt(f * f + g * g)
        beside[i + 1] = r
        if r == 0.0:  # the block fell apart
            diagonal[i + 1] -= p
            beside[last] = 0.0
            return True
        s, c = f / r, g / r
        g = diagonal[i + 1] - p
        r = (diagonal[i] - g) * s + 2.0 * c * b
        p = s * r
        diagonal[i + 1] = g + p
        g = c * r - b
        rotate(Z[i], Z[i + 1], c, s)
    diagonal[first] -= p
    beside[first], beside[last] = g, 0.0
    return True


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
