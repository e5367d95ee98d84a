"""Costs that also take a stack with a column per trial: x of shape (m, d, P), as grid searches need them.

Oracles answer for (m, d) and (m, d, P) alike. `curvature` gives every chosen client's ∇²f_j + μI as something
that can be solved with and applied, without saying how it is kept.
"""

import copy

import numpy as np

from fedrepro.costs import Quadratics
from fedrepro.losses import Logistic


class Shifted:
    """∇²f_j + μI of some clients, at one point each or at one point per column; μ is a number or one per column."""

    def __init__(self, solve, apply):
        self.solve, self.apply = solve, apply


def columnwise(function, r):
    """Apply a map of (m, d, P) stacks to a stack with or without the last axis."""
    return function(r) if r.ndim == 3 else function(r[..., None])[..., 0]


def diagonal(M):
    """A view of the diagonals of a C-contiguous stack of square matrices."""
    return M.reshape(*M.shape[:-2], -1)[..., :: M.shape[-1] + 1]


class ColumnQuadratics(Quadratics):
    """Quadratics whose every trial shares one eigendecomposition."""

    def single(self) -> "ColumnQuadratics":
        """Cheap enough as they are."""
        return self

    def apply(self, x):
        return columnwise(lambda x: np.matmul(self.G, x), x)

    def gradient(self, x):
        return self.apply(x) - (self.c[..., None] if x.ndim == 3 else self.c)

    def products(self, x, u):
        """∇²f_j(x_j) u_j."""
        return self.apply(u)

    def ceilings(self):
        """A matrix above every ∇²f_j."""
        return self.G

    def curvature(self, x, rows, mu) -> Shifted:
        lam, Q = (part[rows] for part in self.spectra())
        Qt, G = Q.transpose(0, 2, 1), self.G[rows]
        shifted = lam[..., None] + mu

        def solve(r):
            return columnwise(lambda r: np.matmul(Q, np.matmul(Qt, r) / shifted), r)

        return Shifted(solve, lambda r: columnwise(lambda r: np.matmul(G, r) + mu * r, r))

    def divergence(self, x, y):
        """f_j(x_j) − f_j(y_j) − ∇f_j(y_j)ᵀ(x_j − y_j), one number per client."""
        r = x - y
        return 0.5 * np.einsum("jd,jd->j", self.apply(r), r)

    def gap(self, x, optimum):
        """½(x − x*)ᵀ(ΣG_j)(x − x*), one number or one per column."""
        if x.ndim == 1:
            return super().gap(x, optimum)
        r = x - optimum[:, None]
        return 0.5 * np.sum(r * (self.G.sum(axis=0) @ r), axis=0)


class ColumnLogistic:
    """f_j(x) = Σ_i w_ij log(1 + exp(−b_ij a_ijᵀx)) + (ridge/2)‖x‖², labels ±1, for clients with very unequal numbers
    of rows: these lie one client after the other, unpadded.

    Hessians of many trials are one matrix product per client, of the rows' outer products with the curvatures.
    """

    loss = Logistic

    def __init__(self, matrices: list, labels: list, weights: list, ridge: float = 0.0):
        self.ridge = ridge
        self.m, self.shape = len(matrices), (matrices[0].shape[1],)
        ends = np.cumsum([len(b) for b in labels])
        self.parts = [slice(end - len(b), end) for end, b in zip(ends, labels, strict=True)]
        self.A = [np.ascontiguousarray(a, dtype=float) for a in matrices]
        self.b, self.w = np.concatenate(labels), np.concatenate(weights)
        self.upper = np.triu_indices(self.shape[0])
        square = np.empty(
            (self.shape[0], self.shape[0]), int
        )  # where each entry lies in the packed upper triangle
        square[self.upper] = square.T[self.upper] = np.arange(len(self.upper[0]))
        self.square = square.ravel()
        self._outer: dict[int, np.ndarray] = {}
        self._seen: tuple = (None, None)

    def single(self) -> "ColumnLogistic":
        """The same costs in single precision: twice as fast, and enough to tell good trials from bad ones."""
        other = copy.copy(self)
        other.A = [a.astype(np.float32) for a in self.A]
        other.b, other.w = self.b.astype(np.float32), self.w.astype(np.float32)
        other._outer, other._seen = {}, (None, None)
        return other

    # --- all rows of all clients, one after the other: (N,) or (N, P) ---

    def predict(self, x):
        """aᵀx_j."""
        out = np.empty((len(self.b), *x.shape[2:]), x.dtype)
        for j, part in enumerate(self.parts):
            np.matmul(self.A[j], x[j], out=out[part])
        return out

    def adjoint(self, r):
        return np.stack([a.T @ r[part] for a, part in zip(self.A, self.parts, strict=True)])

    def probabilities(self, x):
        """σ(aᵀx_j), kept for the next oracle asked at the same x."""
        if self._seen[0] is not x:
            t = self.predict(x)
            np.negative(t, out=t)
            with np.errstate(over="ignore"):
                np.exp(t, out=t)
            t += 1.0
            self._seen = (x, np.divide(1.0, t, out=t))
        return self._seen[1]

    def facing(self, column, other):
        """A column of weights or labels, shaped to meet (N,) or (N, P)."""
        return column if other.ndim == 1 else column[:, None]

    # --- oracles ---

    def value(self, x):
        u = self.predict(x)
        fit = self.facing(self.w, u) * self.loss.value(u, self.facing(self.b, u))
        sums = np.add.reduceat(fit, [part.start for part in self.parts], axis=0)
        return sums + 0.5 * self.ridge * np.sum(x * x, axis=1)

    def gradient(self, x):
        p = self.probabilities(x)
        slope = (p - self.facing(0.5 + 0.5 * self.b, p)) * self.facing(self.w, p)
        return self.adjoint(slope) + self.ridge * x

    def products(self, x, u):
        """∇²f_j(x_j) u_j, without forming the Hessian."""
        p = self.probabilities(x)
        return self.adjoint(p * (1.0 - p) * self.facing(self.w, p) * self.predict(u)) + self.ridge * u

    def hessian(self, x):
        return self.hessians(x, range(self.m))

    def hessians(self, x, rows):
        """∇²f_j of the clients `rows`: (rows, d, d), or (rows, P, d, d) for a column per trial."""
        p, d = self.probabilities(x), self.shape[0]
        out = np.empty((len(rows), *x.shape[2:], d, d), x.dtype)
        for H, j in zip(out, rows, strict=True):
            part = self.parts[j]
            weight = p[part] * (1.0 - p[part]) * self.facing(self.w, p)[part]
            if x.ndim == 2:
                H[...] = (self.A[j] * weight[:, None]).T @ self.A[j]
            else:
                np.take(weight.T @ self.outer(j), self.square, axis=1, out=H.reshape(len(H), -1), mode="clip")
        diagonal(out)[...] += self.ridge
        return out

    def outer(self, j):
        """The upper triangles of the rows' outer products, (N_j, d(d+1)/2)."""
        if j not in self._outer:
            self._outer[j] = self.A[j][:, self.upper[0]] * self.A[j][:, self.upper[1]]
        return self._outer[j]

    def curvature(self, x, rows, mu) -> Shifted:
        M = self.hessians(x, rows)
        diagonal(M)[...] += np.asarray(mu)[..., None]

        def lay(r):  # (rows, d, P) -> (rows, P, d, 1)
            return (r if r.ndim == 2 else np.moveaxis(r, 2, 1))[..., None]

        def back(s):
            s = s[..., 0]
            return s if s.ndim == 2 else np.moveaxis(s, 1, 2)

        return Shifted(lambda r: back(np.linalg.solve(M, lay(r))), lambda r: back(np.matmul(M, lay(r))))

    def ceilings(self):
        """A matrix above every ∇²f_j: the Gram matrices at the largest curvature of the loss."""
        grams = [(a * self.w[part, None]).T @ a for a, part in zip(self.A, self.parts, strict=True)]
        return self.loss.smoothness * np.stack(grams) + self.ridge * np.eye(self.shape[0])

    def bounds(self, x=None):
        """(ℓ_j), (L_j): the ridge, which is all a logistic loss has at infinity, and the largest curvature."""
        return np.full(self.m, self.ridge), np.linalg.eigvalsh(self.ceilings())[:, -1]

    def divergence(self, x, y):
        terms = self.w * self.loss.divergence(self.predict(x), self.predict(y), self.b)
        fit = np.add.reduceat(terms, [part.start for part in self.parts])
        return fit + 0.5 * self.ridge * np.sum((x - y) ** 2, axis=1)

    def gap(self, x, optimum):
        """Σ_j f_j(x) − Σ_j f_j(x*): without cancellation for one x, as a plain difference for a column per trial,
        which is good to 1e-15 of F."""
        if x.ndim == 1:
            return float(
                np.sum(self.divergence(*(np.broadcast_to(y, (self.m, *y.shape)) for y in (x, optimum))))
            )
        return self.total(x) - self.total(optimum[:, None])

    def total(self, x):
        t = self.predict(np.broadcast_to(x, (self.m, *x.shape)))
        t *= -self.b[:, None]
        rest = np.maximum(t, 0.0)
        np.abs(t, out=t)
        np.negative(t, out=t)
        np.exp(t, out=t)
        t += 1.0
        np.log(t, out=t)
        return self.w @ (t + rest) + 0.5 * self.m * self.ridge * np.sum(x * x, axis=0)
