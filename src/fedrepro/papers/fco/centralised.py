"""Exact centralised solutions of quadratic loss + ψ, and the band of penalties that recover a pattern."""

import numpy as np


class GatheredSquares:
    """scale·mean((Xw + b − y)²) over all gathered examples, through its second moments."""

    def __init__(self, X: np.ndarray, y: np.ndarray, scale: float = 1.0):
        self.scale, n = scale, len(y)
        X = X.astype(np.float64)
        self.mean_x, self.mean_y = X.mean(axis=0), float(y.mean())
        self.G = X.T @ X / n - np.outer(self.mean_x, self.mean_x)  # covariance: b is minimised over exactly
        self.c = X.T @ y / n - self.mean_x * self.mean_y
        self.e = float(np.mean(y * y)) - self.mean_y**2
        self._L = None

    def value(self, p: np.ndarray) -> float:
        """At (w, b)."""
        w, b = p[:-1], p[-1]
        off = self.mean_x @ w + b - self.mean_y
        return self.scale * float(w @ (self.G @ w) - 2.0 * (self.c @ w) + self.e + off * off)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """In w, with the best intercept for it."""
        return 2.0 * self.scale * (self.G @ w - self.c)

    def intercept(self, w: np.ndarray) -> float:
        return self.mean_y - float(self.mean_x @ w)

    @property
    def smoothness(self) -> float:
        if self._L is None:
            self._L = 2.0 * self.scale * float(np.linalg.eigvalsh(self.G)[-1])
        return self._L

    def minimise(self, psi, start=None, tolerance: float = 1e-9) -> np.ndarray:
        """argmin over w of value + ψ(w)."""
        start = np.zeros(len(self.c)) if start is None else start
        return minimiser(self.gradient, psi, 1.0 / self.smoothness, start, tolerance)


def minimiser(gradient, psi, step, start, tolerance: float = 1e-9, limit: int = 20_000) -> np.ndarray:
    """argmin F + ψ: accelerated proximal gradient, restarted when it turns back.

    Stops when a proximal step moves less than `tolerance` relative to the point.
    """
    w = v = start
    momentum = 1.0
    for _ in range(limit):
        new = psi.prox(v - step * gradient(v), step)
        moved = new - w
        if np.max(np.abs(new - v)) <= tolerance * max(1.0, np.max(np.abs(new))):
            return new
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        if (v - new) @ moved > 0:  # O'Donoghue & Candès 2015
            v, momentum = new, 1.0
        else:
            v, momentum = new + (momentum - 1.0) / following * moved, following
        w = new
    raise ArithmeticError(f"the centralised solution was not reached in {limit} steps")


def band(
    costs: GatheredSquares, psi_of, highest: float, score, points: int, decades: float, width: float
) -> dict:
    """The penalties whose centralised solution recovers the pattern: the rule of section 5.1, as a sweep.

    λ runs down from `highest` (where the solution is zero) over `decades`; `score(w)` is 1 for a perfect recovery. No
    penalty need be perfect: the band is the longest run of penalties whose score is within `width` of the best.
    """
    swept = highest * 10.0 ** -np.linspace(0.0, decades, points)
    scores, w = [], None
    for strength in swept:
        w = costs.minimise(psi_of(strength), w, tolerance=1e-6)
        scores.append(score(w))
    scores = np.array(scores)
    good = scores >= scores.max() - width - 1e-12
    edges = np.flatnonzero(np.diff(np.concatenate([[0], good.astype(int), [0]])))
    runs = edges.reshape(-1, 2)
    begin, end = runs[np.argmax(runs[:, 1] - runs[:, 0])]
    return {"lambda_low": swept[end - 1], "lambda_high": swept[begin], "best_score": scores.max(),
            "swept": swept, "scores": scores}  # fmt: skip


def within(found: dict, place: float) -> float:
    """The penalty at a place in the band: 0 its low end, 1 its high end, on a logarithmic scale."""
    return float(found["lambda_low"] ** (1.0 - place) * found["lambda_high"] ** place)
