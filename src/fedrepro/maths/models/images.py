"""Classifiers of images: multinomial logistic regression, and a network of dense layers with ReLU."""

from itertools import pairwise

import numpy as np
from scipy.linalg import get_blas_funcs

from fedrepro.maths.kernels import linear, shrinkage, softmax
from fedrepro.maths.kernels.linear import DESCENT, LAZY, SUBGRADIENT
from fedrepro.maths.models.linear import compiled


class Dense:
    """Dense layers of the given sizes, cross-entropy at the end; two sizes are logistic regression.

    Parameters: all kernels (inputs × outputs, row by row), then all biases. A network is computed in the
    precision of X.
    """

    def __init__(self, X: np.ndarray, y: np.ndarray, sizes: tuple[int, ...]):
        self.X, self.y, self.sizes = X, np.asarray(y, np.int64), sizes
        shapes = list(pairwise(sizes))
        ends = np.cumsum([a * b for a, b in shapes])
        self.kernels = tuple(slice(int(e - a * b), int(e)) for e, (a, b) in zip(ends, shapes, strict=True))
        more = ends[-1] + np.cumsum(sizes[1:])
        self.biases = tuple(slice(int(e - b), int(e)) for e, b in zip(more, sizes[1:], strict=True))
        self.shapes, self.size = shapes, int(more[-1])
        self.grams: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}

    def layers(self, p):
        p = p.astype(self.X.dtype, copy=False)
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

    def scores(self, p, X, y) -> tuple[float, float]:
        """The mean loss over some examples, and the share that is told right."""
        last = self.forward(p, X)[-1]
        return float(-np.mean(last[np.arange(len(y)), y])), float(np.mean(last.argmax(axis=1) == y))

    def value(self, p, X, y) -> float:
        return self.scores(p, X, y)[0]

    def backward(self, p, rows):
        """For every layer, the last first: its place, what went in and the slope of the mean loss in what came out."""
        X, y = self.X[rows], self.y[rows]
        outs, layers = self.forward(p, X), self.layers(p)
        slope = np.exp(outs[-1])
        slope[np.arange(len(y)), y] -= 1.0
        slope /= len(y)
        for i in reversed(range(len(layers))):
            before = (layers[i][0] @ np.ascontiguousarray(slope.T)).T * (outs[i] > 0) if i else None
            yield i, outs[i], slope
            slope = before

    def gradient(self, p, rows):
        g = np.empty(self.size)
        for i, entered, slope in self.backward(p, rows):
            g[self.kernels[i]] = (entered.T @ slope).ravel()
            g[self.biases[i]] = slope.sum(axis=0)
        return g

    def walk(self, mode, mirror, visit, batch, start, rate, shrink):
        code = compiled(mirror, self.kernels)
        if mode == SUBGRADIENT or (code and code[0] not in softmax.KNOWN):
            code = None
        out = np.empty((len(visit.lengths), self.size), self.X.dtype)
        if code is None:
            linear.walk_plain(
                self.gradient, mirror, mode, visit.rows, visit.lengths, batch, start, rate, shrink, out
            )
        elif len(self.kernels) == 1:
            for to, rows, length in zip(out, visit.rows, visit.lengths, strict=True):
                self.walk_linear(*code[:2], mode, rows[:length], batch, start, float(rate), float(shrink), to)
        else:
            out[:] = start
            for state, rows, length in zip(out, visit.rows, visit.lengths, strict=True):
                self.walk_layers(*code[:2], mode, rows[:length], batch, state, rate, shrink)
        return out

    def walk_linear(self, psi, strength, mode, rows, batch, start, rate, shrink, to):
        """One client's local steps of logistic regression: in the span of its examples as far as that is quicker and the
        projection stays in it, else through the weights."""
        start = start.astype(self.X.dtype, copy=False)
        low, high = int(rows.min()), int(rows.max()) + 1
        if psi in softmax.SPANNED and (high - low) * (1.0 / len(rows) + 0.5 / self.X.shape[1]) < 1.0:
            X, (G, norms) = self.X[low:high], self.gram(low, high)
            W = start[self.kernels[0]].reshape(self.shapes[0]).copy()
            biases = start[self.biases[0]].copy()
            size = (
                np.sum(W.astype(float) ** 2) if psi == shrinkage.L2_BALL else np.sum(np.abs(W), dtype=float)
            )
            A = np.zeros((self.sizes[-1], high - low), X.dtype)
            steps, kept = softmax.walk_span(
                psi, strength, mode, G, np.ascontiguousarray((X @ W).T), norms, self.y[low:high], rows - low, batch,
                size, rate, A, biases,
            )  # fmt: skip
            W *= X.dtype.type(kept)
            W -= X.T @ A.T
            to[self.kernels[0]], to[self.biases[0]] = W.ravel(), biases
            start, rows, shrink = to, rows[steps * batch :], shrink + rate * steps
        if len(rows):
            softmax.walk(
                psi, strength, mode, self.X, self.y, self.sizes[-1], rows, batch, start, rate, shrink, to,
            )  # fmt: skip

    def gram(self, low, high):
        """XXᵀ and the rows' l1 norms for examples that lie together, a client's, kept for its next visit."""
        if (low, high) not in self.grams:
            X = self.X[low:high]
            self.grams[low, high] = X @ X.T, np.abs(X).sum(axis=1, dtype=float)
        return self.grams[low, high]

    def walk_layers(self, psi, strength, mode, rows, batch, state, rate, shrink):
        """One client's local steps, in place. A batch's gradient is added to the weights as it is multiplied out: the
        kernels are what there is to read and write, and they are gone through once."""
        gemm = get_blas_funcs("gemm", dtype=state.dtype)
        shrunk, thetas = np.empty_like(state), [0.0] * len(self.kernels)

        def prox(v, t, out):
            for i, kernel in enumerate(self.kernels):
                thetas[i] = softmax.prox(psi, strength, t, v[kernel], thetas[i], out[kernel])

        for k, low in enumerate(range(0, len(rows), batch)):
            point = state
            if mode == LAZY and psi != shrinkage.ZERO:
                point = shrunk
                point[self.biases[0].start :] = state[self.biases[0].start :]  # biases come last
                prox(state, shrink + rate * k, point)
            for i, entered, slope in self.backward(point, rows[low : low + batch]):
                W = state[self.kernels[i]].reshape(self.shapes[i])
                gemm(-rate, slope.T, entered.T, 1.0, W.T, trans_b=True, overwrite_c=True)
                state[self.biases[i]] -= rate * slope.sum(axis=0)
            if mode == DESCENT and psi != shrinkage.ZERO:
                prox(state, rate, state)
