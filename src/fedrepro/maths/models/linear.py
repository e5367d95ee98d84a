"""A linear prediction xᵀw + b under the squared or the logistic loss."""

import numpy as np

from fedrepro.maths.kernels import linear
from fedrepro.maths.kernels.shrinkage import CODES
from fedrepro.maths.losses import sigmoid, softplus
from fedrepro.maths.mirrors import Euclidean
from fedrepro.maths.proxes import OnBlocks, Zero


class LinearModel:
    """Parameters are (w, b), b last. `scale` multiplies the squared loss: 1 for (u − y)², ½ for half."""

    def __init__(self, loss: str, X: np.ndarray, y: np.ndarray, scale: float = 1.0):
        self.loss, self.X, self.y, self.scale = loss, X, np.asarray(y, float), scale
        self.code = {"squared": linear.SQUARED, "logistic": linear.LOGISTIC}[loss]
        self.size = X.shape[1] + 1

    def predict(self, p, X):
        return X @ p[:-1].astype(X.dtype, copy=False) + p[-1]

    def value(self, p, X, y) -> float:
        """The mean loss over some examples."""
        u = self.predict(p, X)
        if self.loss == "squared":
            return self.scale * float(np.mean((u - y) ** 2))
        return float(np.mean(softplus(u) - y * u))

    def gradient(self, p, rows):
        X, y = self.X[rows], self.y[rows]
        u = self.predict(p, X)
        slope = 2.0 * self.scale * (u - y) if self.loss == "squared" else sigmoid(u) - y
        return np.append(slope.astype(X.dtype) @ X, slope.sum()) / len(y)

    def walk(self, mode, mirror, visit, batch, start, rate, shrink):
        out = np.empty((len(visit.lengths), self.size))
        code = compiled(mirror, (slice(0, self.size - 1),))
        known = code is not None and (mode != linear.SUBGRADIENT or code[0] == CODES["l1"])
        if not known:
            linear.walk_plain(
                self.gradient, mirror, mode, visit.rows, visit.lengths, batch, start, rate, shrink, out
            )
            return out
        given = (self.X, self.y, visit.rows, visit.lengths)
        step = (start, float(rate), float(shrink), out)
        if batch == 1 and mode != linear.SUBGRADIENT and code[0] in (CODES["zero"], CODES["l1"]):
            linear.walk_single(self.code, self.scale, code[1], mode, *given, *step)
        else:
            linear.walk(self.code, self.scale, *code, mode, *given, batch, *step)
        return out


def compiled(mirror, blocks: tuple[slice, ...]) -> tuple[int, float, int] | None:
    """(code, strength, row length) of a ψ the kernels know, on these parameters; None for any other."""
    if not isinstance(mirror, Euclidean):
        return None
    psi = mirror.psi
    if isinstance(psi, Zero):
        return CODES["zero"], 0.0, 1
    if isinstance(psi, OnBlocks) and psi.blocks == blocks and psi.psi.name in CODES:
        return CODES[psi.psi.name], float(psi.psi.strength), getattr(psi.psi, "shape", (1, 1))[1]
    return None
