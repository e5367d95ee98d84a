"""Costs that also take a stack with a column per trial: x of shape (m, d, P), as grid searches need them.

Oracles answer for (m, d) and (m, d, P) alike. `curvature` gives every chosen client's ∇²f_j + μI as something
that can be solved with and applied, without saying how it is kept.
"""

import numpy as np

from fedrepro.maths.costs import Quadratics
from fedrepro.maths.kernels import cholesky
from fedrepro.maths.losses import Logistic, sigmoid, softplus

RANK_TOLERANCE = 1e-6  # of the largest singular value: what is below is rounding


class Shifted:
    """∇²f_j + μI of some clients, at one point each or at one point per column; μ is a number or one per column."""

    def __init__(self, solve, apply):
        self.solve, self.apply = solve, apply


def columnwise(function, r):
    """Apply a map of (m, d, P) stacks to a stack with or without the last axis."""
    return function(r) if r.ndim == 3 else function(r[..., None])[..., 0]


class ColumnQuadratics(Quadratics):
    """Quadratics whose every trial shares one eigendecomposition."""

    def near(self, x) -> "ColumnQuadratics":
        """Their own model."""
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

    Hessians of many trials are one matrix product per client, of the rows' outer products with the losses' curvatures.
    """

    loss = Logistic

    def __init__(self, matrices: list, labels: list, weights: list, ridge: float = 0.0):
        self.ridge = ridge
        self.m, self.shape = len(matrices), (matrices[0].shape[1],)
        ends = np.cumsum([len(b) for b in labels])
        self.parts = [slice(end - len(b), end) for end, b in zip(ends, labels, strict=True)]
        self.rows = np.concatenate(matrices).astype(float, copy=False)
        self.A = [self.rows[part] for part in self.parts]
        self.b, self.w = np.concatenate(labels), np.concatenate(weights)
        self._spaces: dict[int, tuple] = {}
        self._seen: tuple = (None, None)
        self._optimum: tuple = (None, None, None)

    def near(self, x) -> ColumnQuadratics:
        """The costs to second order around x: far cheaper, and with the same rates once a method is close."""
        rows = np.broadcast_to(x, (self.m, *x.shape))
        G = self.hessian(rows)
        c = np.matmul(G, rows[..., None])[..., 0] - self.gradient(rows)
        return ColumnQuadratics(G, c, np.zeros(self.m))

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
            u = self.predict(x)
            self._seen = (x, sigmoid(u, out=u))
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
        return self.adjoint(self.bends(x) * self.predict(u)) + self.ridge * u

    def hessian(self, x):
        return self.hessians(x, range(self.m))

    def hessians(self, x, rows):
        """∇²f_j of the clients `rows`, at one point each."""
        bend = self.bends(x)
        grams = [(self.A[j] * bend[self.parts[j], None]).T @ self.A[j] for j in rows]
        return np.stack(grams) + self.ridge * np.eye(self.shape[0], dtype=x.dtype)

    def bends(self, x):
        """w σ(1 − σ), the curvature of every row's loss."""
        p = self.probabilities(x)
        return p * (1.0 - p) * self.facing(self.w, p)

    def curvature(self, x, rows, mu) -> Shifted:
        if x.ndim == 3:
            return self.column_curvature(x, rows, mu)
        M = self.hessians(x, rows) + mu * np.eye(self.shape[0])
        return Shifted(
            lambda r: np.linalg.solve(M, r[..., None])[..., 0], lambda r: np.matmul(M, r[..., None])[..., 0]
        )

    def column_curvature(self, x, rows, mu) -> Shifted:
        """A column per trial. Client j's Hessian is a multiple of the identity off the span Q of its rows, so that
        systems are only as large as its rows have rank: 43 instead of 99 for a client with mushrooms of one kind."""
        bend, shift = self.bends(x), self.ridge + mu
        factors = []
        for j in rows:
            Q, outer = self.row_space(j)
            M = outer @ bend[self.parts[j]]
            diagonal = np.arange(1, Q.shape[1] + 1)
            M[diagonal * (diagonal + 1) // 2 - 1] += shift
            cholesky.factorise(M)
            factors.append(M)

        def solve(r):
            out = r / shift
            for k, (j, L) in enumerate(zip(rows, factors, strict=True)):
                Q, _ = self.row_space(j)
                inside = Q.T @ r[k]
                away = inside / shift
                cholesky.solve(L, inside)
                out[k] += Q @ (inside - away)
            return out

        def apply(r):
            out = shift * r
            for k, j in enumerate(rows):
                out[k] += self.A[j].T @ (bend[self.parts[j]] * (self.A[j] @ r[k]))
            return out

        return Shifted(solve, apply)

    def row_space(self, j):
        """An orthonormal basis Q of the span of client j's rows, (d, r), and in its coordinates the lower
        triangles of the rows' outer products, (r(r + 1)/2, N_j)."""
        if j not in self._spaces:
            kind = self.A[j].dtype
            _, sizes, directions = np.linalg.svd(self.A[j].astype(float), full_matrices=False)
            Q = directions[sizes > RANK_TOLERANCE * sizes[0]].T
            inside = np.ascontiguousarray((self.A[j] @ Q).T)
            low = np.tril_indices(len(inside))
            self._spaces[j] = Q.astype(kind), (inside[low[0]] * inside[low[1]]).astype(kind)
        return self._spaces[j]

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
        if self._optimum[0] is not optimum:
            self._optimum = optimum, self.rows @ optimum, self.total(optimum[:, None])
        _, margins, value = self._optimum
        if x.ndim > 1:
            return self.total(x) - value
        fit = self.w @ self.loss.divergence(self.rows @ x, margins, self.b)
        return float(fit + 0.5 * self.m * self.ridge * np.sum((x - optimum) ** 2))

    def total(self, x):
        margin = self.rows @ x
        margin *= -self.b[:, None]
        return self.w @ softplus(margin, out=margin) + 0.5 * self.m * self.ridge * np.sum(x * x, axis=0)
