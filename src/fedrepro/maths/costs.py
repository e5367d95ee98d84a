"""Local cost functions f_1, …, f_m, evaluated for all clients in one call. No federation in here.

A *stack* is an array whose first axis is the client: x of shape (m, d), or (m, d, K) for K one-vs-all columns.
All costs have value, gradient, hessian, prox, the curvature bounds ℓ_j ≤ ∇²f_j ≤ L_j, and `gap`, which
gives Σ_j f_j(x) − Σ_j f_j(x*) at a minimiser x* without subtracting two nearly equal sums.
"""

import numpy as np

from fedrepro.maths.curvature import Curvature
from fedrepro.maths.losses import LOSSES
from fedrepro.maths.newton import newton, solve_columns
from fedrepro.maths.stacks import stack

PROX_TOLERANCE = 1e-12


class Quadratics:
    """f_j(x) = ½ xᵀG_j x − c_jᵀx + e_j: least squares through its Gram matrices."""

    def __init__(self, G: np.ndarray, c: np.ndarray, e: np.ndarray):
        self.G, self.c, self.e = G, c, e
        self.m, self.shape = len(G), (G.shape[1],)
        self._spectra = None

    @classmethod
    def least_squares(cls, matrices: list, responses: list, weights=None, ridge: float = 0.0) -> "Quadratics":
        """f_j(x) = (w_j/2)‖A_j x − b_j‖² + (ridge/2)‖x‖²; dense or sparse A_j, of any number of rows."""
        data = stack(matrices)
        b = data.pad(responses)
        w = np.ones(len(matrices)) if weights is None else np.asarray(weights, float)
        G = w[:, None, None] * data.gram() + ridge * np.eye(data.shape[2])
        return cls(G, w[:, None] * data.adjoint(b), 0.5 * w * np.sum(b * b, axis=1))

    def value(self, x):
        return 0.5 * np.einsum("jd,jd->j", self.apply(x), x) - np.einsum("jd,jd->j", self.c, x) + self.e

    def apply(self, x):
        return np.matmul(self.G, x[..., None])[..., 0]

    def gradient(self, x):
        return self.apply(x) - self.c

    def hessian(self, x):
        return self.G

    def spectra(self):
        """Eigenvalues and eigenvectors of every G_j: the factorisation all prox steps share."""
        if self._spectra is None:
            self._spectra = np.linalg.eigh(self.G)
        return self._spectra

    def prox(self, v, step, start=None):
        """argmin_u step·f_j(u) + ½‖u − v_j‖², exactly, for any step from one factorisation."""
        lam, Q = self.spectra()
        Qt = Q.transpose(0, 2, 1)
        w = np.matmul(Qt, (v + step * self.c)[..., None]) / (1.0 + step * lam)[..., None]
        return np.matmul(Q, w)[..., 0]

    def bounds(self, x=None):
        """(ℓ_j), (L_j)."""
        lam = self.spectra()[0]
        return lam[:, 0].copy(), lam[:, -1].copy()

    def gap(self, x, optimum):
        """½(x − x*)ᵀ(ΣG_j)(x − x*)."""
        if not hasattr(self, "_total"):
            self._total = self.G.sum(axis=0)
        r = x - optimum
        return 0.5 * float(r @ (self._total @ r))


class LinearModels:
    """f_j(x) = Σ_i w_ij φ(a_ijᵀx, b_ij) + (ridge/2)‖x‖² for a loss φ of linear predictions, dense or sparse."""

    def __init__(
        self, loss: str, matrices: list, targets: list, weights: list | None = None, ridge: float = 0.0
    ):
        self.loss, self.ridge = LOSSES[loss], ridge
        self.data = stack(matrices)
        self.b = self.data.pad(targets, fill=1.0)
        self.w = self.data.pad([np.ones(len(t)) for t in targets] if weights is None else weights)
        if self.b.ndim == 3:
            self.w = self.w[..., None]
        self.m, self.shape = len(matrices), (self.data.shape[2], *self.b.shape[2:])

    def value(self, x):
        u = self.data.predict(x)
        fit = np.sum(self.w * self.loss.value(u, self.b), axis=tuple(range(1, u.ndim)))
        return fit + 0.5 * self.ridge * np.sum(x * x, axis=tuple(range(1, x.ndim)))

    def gradient(self, x):
        slope = self.w * self.loss.slope(self.data.predict(x), self.b)
        return self.data.adjoint(slope) + self.ridge * x

    def hessian(self, x):
        """(m, d, d), or (m, K, d, d): the columns of a one-vs-all problem do not interact."""
        curvature = self.w * self.loss.curvature(self.data.predict(x), self.b)
        if curvature.ndim == 2:
            H = self.data.gram(curvature)
        else:
            H = np.stack([self.data.gram(c) for c in np.moveaxis(curvature, 2, 0)], axis=1)
        H[..., np.arange(self.shape[0]), np.arange(self.shape[0])] += self.ridge
        return H

    def curvatures(self, x) -> list[Curvature]:
        """The same for a single column, as maps: nothing of size (m, d, d) is formed."""
        c = self.w * self.loss.curvature(self.data.predict(x), self.b)
        return [Curvature(*self.data.pair(j), c[j, : self.data.sizes[j]], self.ridge) for j in range(self.m)]

    def prox(self, v, step, start=None):
        """argmin_u step·f_j(u) + ½‖u − v_j‖² by damped Newton, for all clients (and columns) together."""
        enough = PROX_TOLERANCE * (1.0 + np.max(np.abs(v)))
        axes, eye = tuple(range(1, v.ndim)), np.eye(self.shape[0])

        def value(u, rows):
            return step * self.value(u) + 0.5 * np.sum((u - v) ** 2, axis=axes)

        def direction(u, rows):
            g = step * self.gradient(u) + u - v
            if np.max(np.abs(g)) <= enough:
                return (), None, None
            move = solve_columns(step * self.hessian(u) + eye, g)
            return rows, -move, np.sum(g * move, axis=axes)

        return newton(v if start is None else start, value, direction, f"a proximal step of size {step:.3g}")

    def bounds(self, x=None):
        """(ℓ_j), (L_j). ℓ_j is the ridge, or the smallest curvature at x where a point is given:
        a logistic loss flattens at infinity and has no global strong convexity of its own."""
        weight = np.broadcast_to(self.w if self.w.ndim == 2 else self.w[..., 0], self.b.shape[:2])
        top = np.linalg.eigvalsh(self.data.gram(weight))[:, -1]
        low = np.full(self.m, self.ridge)
        if x is not None:
            H = self.hessian(np.broadcast_to(x, (self.m, *x.shape)))
            low = np.linalg.eigvalsh(H).reshape(self.m, -1).min(axis=1)
        return low, self.loss.smoothness * top + self.ridge

    def gap(self, x, optimum):
        u, v = self.data.predict_shared(x), self.data.predict_shared(optimum)
        r = x - optimum
        return float(
            np.sum(self.w * self.loss.divergence(u, v, self.b)) + 0.5 * self.m * self.ridge * np.sum(r * r)
        )
