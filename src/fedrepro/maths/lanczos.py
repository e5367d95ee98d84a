"""The leading eigenpairs of a symmetric matrix by a few Lanczos steps, with a check of their residuals.

The matrix may be a map: all that is asked of it is A @ v, and `np.asarray` should Lanczos fail.
"""

import numpy as np
from scipy.linalg import eigh

CHECK_EVERY = 3
STEPS = 60  # beyond this a full eigendecomposition is cheaper
BLOCKS = 5  # the same for blocks of sixteen vectors


def dominant(A, start: np.ndarray, tolerance: float) -> tuple[float, np.ndarray, np.ndarray]:
    """λ of largest magnitude, its unit eigenvector, and a good start for A − λvvᵀ (the next Ritz vector).

    Stops when ‖Av − λv‖ ≤ tolerance·|λ|, where λ has an error of the order tolerance²·|λ|; falls back on LAPACK
    where Lanczos has not settled in STEPS steps. Full reorthogonalisation: the basis is small.
    """
    n = len(A)
    limit = min(STEPS, n - 1)
    Q = np.empty((limit + 1, n))
    T = np.zeros((limit + 1, limit + 1))
    size = np.linalg.norm(start)
    if size == 0.0 or limit < 3:
        return by_lapack(A)
    Q[0] = start / size
    for k in range(limit):
        w = A @ Q[k]
        basis = Q[: k + 1]
        along = basis @ w
        w -= along @ basis
        w -= (basis @ w) @ basis
        T[k, k] = along[k]
        beta = float(np.sqrt(w @ w))
        closed = beta <= 1e-14 * np.abs(along).max()  # an invariant subspace: it may miss the dominant pair
        if closed:
            break
        if k > CHECK_EVERY and (k + 1) % CHECK_EVERY == 0:
            ritz, vectors = np.linalg.eigh(T[: k + 1, : k + 1])
            top = 0 if -ritz[0] > ritz[-1] else k
            if beta * abs(vectors[k, top]) <= tolerance * abs(ritz[top]):
                order = np.argsort(-np.abs(ritz))
                v = vectors[:, top] @ basis
                return float(ritz[top]), v / np.linalg.norm(v), vectors[:, order[1]] @ basis
        T[k, k + 1] = T[k + 1, k] = beta
        Q[k + 1] = w / beta
    return by_lapack(A)


def leading(A, start: np.ndarray, count: int, tolerance: float) -> tuple[np.ndarray, np.ndarray] | None:
    """The largest eigenvalues, increasing, and eigenvectors (in columns), as many as `start` has, by block Lanczos from
    there; None where the first `count` have not come to ‖Av − λv‖ ≤ tolerance·λ in BLOCKS blocks."""
    b = start.shape[1]
    basis = np.linalg.qr(start)[0]
    images = A @ basis
    for _ in range(BLOCKS):
        ritz, within = np.linalg.eigh(basis.T @ images)
        ritz, within = ritz[::-1][:b], within[:, ::-1][:, :b]
        vectors = basis @ within
        residuals = images @ within[:, :count] - vectors[:, :count] * ritz[:count]
        if np.all(np.sum(residuals**2, axis=0) <= (tolerance * ritz[:count]) ** 2):
            return ritz[::-1], vectors[:, ::-1]
        w = images[:, -b:]
        for _ in range(2):
            w = w - basis @ (basis.T @ w)
        fresh = np.linalg.qr(w)[0]
        basis, images = np.hstack([basis, fresh]), np.hstack([images, A @ fresh])
    return None


def by_lapack(A) -> tuple[float, np.ndarray, np.ndarray]:
    """What `dominant` gives, from a full eigendecomposition."""
    values, vectors = eigh(np.asarray(A), check_finite=False)
    order = np.argsort(-np.abs(values))
    return float(values[order[0]]), vectors[:, order[0]], vectors[:, order[min(1, len(A) - 1)]]
