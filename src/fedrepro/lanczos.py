"""The dominant eigenpair of a symmetric matrix by a few Lanczos steps, with a check of its residual."""

import numpy as np
from scipy.linalg import eigh

CHECK_EVERY = 6
STEPS = 60  # beyond this a full eigendecomposition is cheaper


def dominant(
    A: np.ndarray, start: np.ndarray, tolerance: float = 1e-6
) -> tuple[float, np.ndarray, np.ndarray]:
    """λ of largest magnitude, its unit eigenvector, and a good start for A − λvvᵀ (the next Ritz vector).

    Stops when ‖Av − λv‖ ≤ tolerance·|λ|; falls back on LAPACK where Lanczos has not settled in STEPS steps.
    Full reorthogonalisation: the basis is small.
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
        if (k + 1) % CHECK_EVERY == 0:
            ritz, vectors = np.linalg.eigh(T[: k + 1, : k + 1])
            top = int(np.argmax(np.abs(ritz)))
            if beta * abs(vectors[k, top]) <= tolerance * abs(ritz[top]):
                order = np.argsort(-np.abs(ritz))
                v = vectors[:, top] @ basis
                return float(ritz[top]), v / np.linalg.norm(v), vectors[:, order[1]] @ basis
        T[k, k + 1] = T[k + 1, k] = beta
        Q[k + 1] = w / beta
    return by_lapack(A)


def by_lapack(A: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The same from a full eigendecomposition."""
    values, vectors = eigh(A, check_finite=False)
    order = np.argsort(-np.abs(values))
    return float(values[order[0]]), vectors[:, order[0]], vectors[:, order[min(1, len(A) - 1)]]
