"""Compiled proximal maps, in place, for the local loops. Their plain twins are in proxes.py."""

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz"}  # vectorised sums, but infinities and NaNs keep their meaning
ORDERED = FAST - {"reassoc"}  # sums as they are written

# How a compiled loop knows ψ.
CODES = {"zero": 0, "l1": 1, "nuclear": 2, "l1_ball": 3, "l2_ball": 4}
ZERO, L1, NUCLEAR, L1_BALL, L2_BALL = range(5)

ROUNDING = np.finfo(float).eps
QL_STEPS = 60  # for one eigenvalue; two or three are the rule
BOLD_STEPS = 10  # of these, the first go for large eigenvalues
COLUMNS = (
    32  # of the eigenvectors, rotated together; a fixed number, so that the compiler can use wide registers
)
NOTHING = 1e-60  # a square that is rounding's, where the largest number is about 1
CHUNK = 1024  # entries summed in their own precision before they are added up in double


@njit(cache=True, fastmath=FAST, forceinline=True)
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


@njit(cache=True, forceinline=True)
def copy(values, out):
    """A slice assignment brings a sentence about shapes that do not match, which takes longer to compile than all else."""
    for j in range(values.size):
        out[j] = values[j]


@njit(cache=True, fastmath=FAST, forceinline=True)
def soft(v, t):
    """One array: a loop over two that may be the same is not made wide."""
    t = v.dtype.type(t)
    for j in range(v.size):
        v[j] -= min(max(v[j], -t), t)


@njit(cache=True, fastmath=FAST, forceinline=True)
def soft_into(v, t, out):
    t = v.dtype.type(t)
    for j in range(v.size):
        a = v[j]
        out[j] = a - min(max(a, -t), t)


@njit(cache=True, fastmath=FAST, forceinline=True)
def l1_ball(v, radius):
    total = absolute_sum(v)
    if total <= radius or not np.isfinite(total):
        return
    soft(v, l1_threshold(v, radius))


@njit(cache=True, fastmath=FAST, forceinline=True)
def l1_ball_near(v, radius, theta, out):
    """The projection of v into `out`, its threshold sought from the one of a point nearby; the threshold."""
    total = absolute_sum(v)
    if total <= radius or not np.isfinite(total):
        copy(v, out)
        return theta
    theta = l1_threshold(v, radius, theta)
    soft_into(v, theta, out)
    return theta


@njit(cache=True, fastmath=FAST, forceinline=True)
def absolute_sum(v):
    total = 0.0
    for low in range(0, v.size, CHUNK):
        part = v[low : low + CHUNK]
        some = v.dtype.type(0.0)
        for j in range(part.size):
            some += abs(part[j])
        total += some
    return total


@njit(cache=True, fastmath=FAST, forceinline=True)
def l1_threshold(v, radius, theta=0.0):
    """θ with Σ max(|v_j| − θ, 0) = radius: Newton's method on this convex, piecewise linear function.

    From the left every step lands left of the root or on it, on a piece with fewer entries: finite and exact. Once
    rounding puts entries back, there is no more to gain. A guess may lie on either side: the first step from the right
    lands left of the root as well.
    """
    if theta > 0.0:
        rest, count = above(v, theta)
        theta = max(v.dtype.type(theta) + (rest - radius) / count, 0.0) if count else 0.0
    left = v.size + 1
    while True:
        rest, count = above(v, theta)
        if count >= left or count == 0:
            return theta
        theta, left = v.dtype.type(theta) + (rest - radius) / count, count


@njit(cache=True, fastmath=FAST, forceinline=True)
def above(v, theta):
    """Σ max(|v_j| − θ, 0), and how many are positive."""
    rest, count = 0.0, 0
    edge, zero, one = v.dtype.type(theta), v.dtype.type(0.0), v.dtype.type(1.0)
    for low in range(0, v.size, CHUNK):
        part = v[low : low + CHUNK]
        some, seen = zero, zero  # counted in v's precision, in which a chunk is exact: wide registers
        for j in range(part.size):
            over = abs(part[j]) - edge
            some += max(over, zero)
            seen += one if over > zero else zero
        rest += some
        count += int(seen)
    return rest, count


@njit(cache=True, fastmath=FAST, forceinline=True)
def l2_ball(v, radius):
    total = 0.0
    for j in range(v.size):
        total += v[j] * v[j]
    if total > radius * radius:
        v *= radius / np.sqrt(total)


@njit(cache=True, fastmath=ORDERED)
def threshold(v, t, side):
    """Singular-value thresholding of the matrix v through the eigenpairs of its Gram matrix.

    A singular value near t is off by about ε‖V‖²/t, far below what a stochastic step can tell; and the
    eigenpairs take a fifth of the time of LAPACK's decomposition at the sizes of the paper.
    """
    if t <= 0.0:
        return
    A = v.reshape(v.size // side, side).astype(np.float64)
    G = A.T @ A
    trace = 0.0
    for i in range(side):
        trace += G[i, i]
    if not np.isfinite(trace**2):
        v.fill(np.nan)  # a diverged state; the rotations below would not end well
        return
    squares, Z = eigenpairs(G, t * t, t * t)
    if squares.size == 0:
        v.fill(0.0)
        return
    Y = A @ Z.T
    factors = 1.0 - t / np.sqrt(squares)
    for i in range(len(Y)):
        for j in range(factors.size):
            Y[i, j] *= factors[j]
    copy((Y @ Z).reshape(v.size), v)


@njit(cache=True, fastmath=ORDERED)
def eigenpairs(G, floor=-np.inf, least=-np.inf):
    """Eigenvalues of a symmetric matrix and the eigenvectors as rows; only what is above `least` is returned.

    Householder's tridiagonal form, then QL steps with implicit shifts (Golub & Van Loan, sections 8.3.1 and
    8.3.3). Eigenvalues below `floor` need not be told apart: their rows span the space of their eigenvectors, and
    their values are only known to be below it.
    """
    diagonal, beside, mirrors, scales = tridiagonal(G)
    Z = diagonalise(diagonal, beside, floor)
    wanted = np.flatnonzero(diagonal > least)
    return diagonal[wanted], reflect(Z, wanted, mirrors, scales)


@njit(cache=True, fastmath=ORDERED)
def tridiagonal(given):
    """The diagonal, the entries beside it, and the reflections I − scale·uuᵀ that lead there.

    Rows are filled up with zeros: sums over whole rows are faster than over what is left of them.
    """
    n = len(given)
    width = -(-n // COLUMNS) * COLUMNS
    G = np.zeros((n, width))
    for i in range(n):
        copy(given[i], G[i])
    diagonal, beside = np.empty(n), np.zeros(n)
    mirrors, scales, p = np.zeros((n, width)), np.zeros(n), np.zeros(width)
    for k in range(n - 1):
        diagonal[k] = G[k, k]
        u = mirrors[k]
        copy(G[k, k + 1 :], u[k + 1 :])
        square = product(u, u)
        head, norm = u[k + 1], np.sqrt(square)
        beside[k] = -norm if head > 0 else norm
        u[k + 1] -= beside[k]
        half = square + abs(head) * norm  # of ‖u‖²
        if half == 0.0:
            continue
        scales[k] = 1.0 / half
        p[k] = 0.0
        for i in range(k + 1, n):
            p[i] = scales[k] * product(G[i], u)
        turn(p, u, -0.5 * scales[k] * product(p, u))
        for i in range(k + 1, n):
            row, a, b = G[i], u[i], p[i]
            for j in range(width):
                row[j] -= a * p[j] + b * u[j]
    diagonal[n - 1] = G[n - 1, n - 1]
    return diagonal, beside, mirrors, scales


@njit(cache=True, fastmath=ORDERED)
def diagonalise(diagonal, beside, floor):
    """Turns `diagonal` into the eigenvalues; the rows of the result are the eigenvectors, cut into blocks of columns.

    Once all eigenvalues above the floor are found, the rest stays as it is.
    """
    n = diagonal.size
    Z = np.zeros((-(-n // COLUMNS), n * COLUMNS))
    for i in range(n):
        Z[i // COLUMNS, i * COLUMNS + i % COLUMNS] = 1.0
    unit = np.abs(diagonal).max() + np.abs(beside).max()
    if unit == 0.0:
        return Z
    diagonal /= unit
    beside /= unit
    floor /= unit
    left = count_above(diagonal, beside, floor)
    clearly = floor + 4.0 * n * ROUNDING  # nearer to the floor the count may have seen it on the other side
    for first in range(n):
        if left == 0:
            for i in range(first, n):
                diagonal[i] = min(diagonal[i], floor)
            break
        for step in range(QL_STEPS):
            if not ql_step(diagonal, beside, Z, first, step < BOLD_STEPS):
                break
        left -= diagonal[first] > clearly
    diagonal *= unit
    return Z


@njit(cache=True, fastmath=ORDERED)
def count_above(diagonal, beside, floor):
    """How many eigenvalues exceed the floor: the positive pivots of T − floor·I, by Sylvester's law of inertia."""
    count, pivot, e = 0, 1.0, 0.0
    for i in range(diagonal.size):
        pivot = diagonal[i] - floor - e * e / pivot
        if abs(pivot) < NOTHING:
            pivot = NOTHING
        count += pivot > 0.0
        e = beside[i]
    return count


@njit(cache=True, fastmath=ORDERED)
def ql_step(diagonal, beside, Z, first, bold):
    """One implicit QL step on the unreduced block that begins at `first`; False if that block is one number.

    The shift is an eigenvalue of the leading 2 × 2 matrix: if bold the larger, so that large eigenvalues tend to be
    found first, else Wilkinson's. What the next rotation waits for is written with 1/r² instead of 1/r: the root
    is taken meanwhile.
    """
    last = first
    while abs(beside[last]) > 4.0 * ROUNDING:  # what rounding itself leaves behind
        last += 1
    if last == first:
        return False
    e, half = beside[first], 0.5 * (diagonal[first + 1] - diagonal[first])
    r = np.sqrt(half * half + e * e)
    if bold:
        shift = half + r if half > 0.0 else e * e / (r - half)
    else:
        shift = -e * e / (half + (r if half >= 0.0 else -r))
    g = diagonal[last] - diagonal[first] - shift
    s, c, p, ss = 1.0, 1.0, 0.0, 1.0
    for i in range(last - 1, first - 1, -1):
        e = beside[i]
        f, b = s * e, c * e
        square = ss * (e * e) + g * g  # r² = f² + g²
        if square < NOTHING:  # the block fell apart
            diagonal[i + 1] -= p
            beside[i + 1] = beside[last] = 0.0
            return True
        inverse = 1.0 / square
        root = np.sqrt(inverse)
        beside[i + 1] = square * root
        ss = f * f * inverse
        s, c = f * root, g * root
        d = diagonal[i + 1] - p
        m = (diagonal[i] - d) * f + 2.0 * g * b
        p = (f * inverse) * m
        diagonal[i + 1] = d + p
        g = (g * inverse) * m - b
        for block in range(len(Z)):
            rows = Z[block, i * COLUMNS : (i + 2) * COLUMNS]
            for j in range(COLUMNS):
                x, y = rows[j], rows[COLUMNS + j]
                rows[j] = c * x - s * y
                rows[COLUMNS + j] = s * x + c * y
    diagonal[first] -= p
    beside[first], beside[last] = g, 0.0
    return True


@njit(cache=True, fastmath=ORDERED)
def reflect(Z, wanted, mirrors, scales):
    """The wanted rows of Z, put together from their blocks and taken through the reflections, the last first."""
    n, width = mirrors.shape
    out = np.empty((wanted.size, width))
    for block in range(len(Z)):
        columns = out[:, block * COLUMNS : (block + 1) * COLUMNS]
        for i in range(wanted.size):
            copy(Z[block, wanted[i] * COLUMNS : (wanted[i] + 1) * COLUMNS], columns[i])
    for k in range(n - 2, -1, -1):
        u = mirrors[k]
        for i in range(wanted.size):
            turn(out[i], u, -scales[k] * product(out[i], u))
    return np.ascontiguousarray(out[:, :n])


@njit(cache=True, fastmath=FAST, forceinline=True)
def product(a, b):
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@njit(cache=True, fastmath=ORDERED)
def turn(a, b, factor):
    for k in range(a.size):
        a[k] += factor * b[k]
