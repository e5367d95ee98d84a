"""Losses of a linear prediction: the scalar functions φ(u, b), u = aᵀx, and what can be said of them.

Every loss is convex and smooth in u. The functions work elementwise, so one definition serves dense and
sparse data, one client or a stack of them, and one column of predictions or K of them (one-vs-all).
"""

import numpy as np


class LeastSquares:
    """φ(u, b) = (u − b)²/2. Pathak & Wainwright, eq. (8)."""

    smoothness = 1.0  # sup φ''

    @staticmethod
    def value(u, b):
        return 0.5 * (u - b) ** 2

    @staticmethod
    def slope(u, b):
        return u - b

    @staticmethod
    def curvature(u, b):
        return np.ones_like(u)

    @staticmethod
    def divergence(u, v, b):
        """φ(u) − φ(v) − φ'(v)(u − v)."""
        return 0.5 * (u - v) ** 2


class Logistic:
    """φ(u, b) = log(1 + exp(−bu)) with labels b = ±1. Pathak & Wainwright, eq. (20); eq. (21) applies it
    to each of K columns."""

    smoothness = 0.25

    @staticmethod
    def value(u, b):
        return softplus(-b * u)

    @staticmethod
    def slope(u, b):
        return -b * sigmoid(-b * u)

    @staticmethod
    def curvature(u, b):
        e = np.exp(-np.abs(u))
        return e / (1.0 + e) ** 2

    @staticmethod
    def divergence(u, v, b):
        """φ(u) − φ(v) − φ'(v)(u − v), free of the cancellation that subtracting two values would bring.

        With t = −b(u − v) and p = σ(−bv) it is log(1 + p(eᵗ − 1)) − pt, whose terms are of the size of
        the difference itself.
        """
        s, t = -b * v, -b * (u - v)
        p = sigmoid(s)
        change = np.log1p(p * np.expm1(np.clip(t, -1.0, 1.0)))
        far = np.abs(t) >= 1.0  # t is large: nothing cancels
        if far.any():
            change = np.where(far, softplus(s + t) - softplus(s), change)
        return change - p * t


def sigmoid(z: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """1/(1 + exp(−z)), by functions that NumPy has in wide registers: several times quicker than `expit`."""
    out = np.negative(z, out=out)
    with np.errstate(over="ignore"):  # 1/∞ is the limit
        np.exp(out, out=out)
    out += 1.0
    return np.divide(1.0, out, out=out)


def softplus(z: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """log(1 + exp(z)); it may take the place of z, which saves time where z is large."""
    above = np.maximum(z, 0.0)
    out = np.abs(z, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    out += above
    return out


LOSSES = {"least_squares": LeastSquares, "logistic": Logistic}
