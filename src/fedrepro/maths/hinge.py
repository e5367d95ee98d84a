"""λ/2‖w‖² + mean hinge: its value, its dual, and its optimum by stochastic dual coordinate ascent, certified."""

import numpy as np

from fedrepro.maths.kernels.dual_ascent import ascend
from fedrepro.maths.seeds import stream


def solve(X, y, lam: float, tolerance: float = 1e-8, epochs: int = 20_000) -> dict:
    """P*, D* and w*, α* of λ/2‖w‖² + mean hinge (Shalev-Shwartz & Zhang 2013), certified by P(w) − D(α)."""
    N = len(y)
    y = np.asarray(y, float)
    rng = stream(0, "reference", "sdca")
    alpha, w, zero = np.zeros(N), np.zeros(X.shape[1]), np.zeros(N)
    square = np.asarray(
        (X * X).sum(axis=1) if isinstance(X, np.ndarray) else X.multiply(X).sum(axis=1), float
    ).ravel()
    gap, check = np.inf, 1
    for epoch in range(1, epochs + 1):
        ascend(X, y, alpha, zero, square, rng.permutation(N), lam * N, 1.0, w)
        if epoch >= check or epoch == epochs:
            w = (X.T @ alpha) / (lam * N)  # afresh: the running sum has gathered rounding
            high, low = primal(X, y, lam, w), dual(y, lam, w, alpha)
            gap = high - low
            if gap <= tolerance:
                return {"w": w, "alpha": alpha, "primal": high, "dual": low, "epochs": epoch}
            check = epoch + max(1, epoch // 10)
    raise ArithmeticError(f"the duality gap is {gap:.1e} after {epochs} epochs, asked for {tolerance:g}")


def primal(X, y, lam: float, w: np.ndarray) -> float:
    """P(w)."""
    return float(lam / 2 * (w @ w) + np.maximum(0.0, 1.0 - y * (X @ w)).mean())


def dual(y, lam: float, w: np.ndarray, alpha: np.ndarray) -> float:
    """D(α), for w = Aα/(λN): for the hinge loss −l*(−a) = y a, where 0 <= y a <= 1."""
    return float((y * alpha).mean() - lam / 2 * (w @ w))
