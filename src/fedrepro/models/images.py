"""Classifiers of images: multinomial logistic regression, and a network of dense layers with ReLU."""

from itertools import pairwise

import numpy as np

from fedrepro.kernels import linear, softmax
from fedrepro.models.linear import compiled


class Dense:
    """Dense layers of the given sizes, cross-entropy at the end; two sizes are logistic regression.

    Parameters: all kernels (inputs × outputs, row by row), then all biases.
    """

    def __init__(self, X: np.ndarray, y: np.ndarray, sizes: tuple[int, ...]):
        self.X, self.y, self.sizes = X, np.asarray(y, np.int64), sizes
        shapes = list(pairwise(sizes))
        ends = np.cumsum([a * b for a, b in shapes])
        self.kernels = tuple(slice(int(e - a * b), int(e)) for e, (a, b) in zip(ends, shapes, strict=True))
        more = ends[-1] + np.cumsum(sizes[1:])
        self.biases = tuple(slice(int(e - b), int(e)) for e, b in zip(more, sizes[1:], strict=True))
        self.shapes, self.size = shapes, int(more[-1])

    def layers(self, p):
        return [
            (p[k].reshape(shape), p[b])
            for k, b, shape in zip(self.kernels, self.biases, self.shapes, strict=True)
        ]

    def forward(self, p, X) -> list[np.ndarray]:
        """What every layer puts out, the input first; the last are log-probabilities."""
        outs = [X]
        for i, (W, b) in enumerate(self.layers(p)):
            u = outs[-1] @ W + b
            outs.append(np.maximum(u, 0.0) if i < len(self.shapes) - 1 else u)
        last = outs[-1] - outs[-1].max(axis=1, keepdims=True)
        outs[-1] = last - np.log(np.exp(last).sum(axis=1, keepdims=True))
        return outs

    def value(self, p, X, y) -> float:
        return float(-np.mean(self.forward(p, X)[-1][np.arange(len(y)), y]))

    def accuracy(self, p, X, y) -> float:
        return float(np.mean(self.forward(p, X)[-1].argmax(axis=1) == y))

    def gradient(self, p, rows):
        X, y = self.X[rows], self.y[rows]
        outs, layers = self.forward(p, X), self.layers(p)
        slope = np.exp(outs[-1])
        slope[np.arange(len(y)), y] -= 1.0
        slope /= len(y)
        g = np.empty(self.size)
        for i in reversed(range(len(layers))):
            g[self.kernels[i]] = (outs[i].T @ slope).ravel()
            g[self.biases[i]] = slope.sum(axis=0)
            if i:
                slope = (slope @ layers[i][0].T) * (outs[i] > 0)
        return g

    def walk(self, mode, mirror, visit, batch, start, rate, shrink):
        out = np.empty((len(visit.lengths), self.size))
        code = compiled(mirror, self.kernels[0].stop) if len(self.kernels) == 1 else None
        if code is None:
            linear.walk_plain(
                self.gradient, mirror, mode, visit.rows, visit.lengths, batch, start, rate, shrink, out
            )
            return out
        softmax.walk(
            *code[:2], mode, self.X, self.y, self.sizes[-1], visit.rows, visit.lengths, batch,
            start, float(rate), float(shrink), out,
        )  # fmt: skip
        return out
