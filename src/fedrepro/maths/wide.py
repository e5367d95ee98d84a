"""Linear models whose clients have fewer rows than columns, at sizes where one d × K array per client is too much.

Whatever an algorithm adds up at client j stays in {w + A_jᵀβ_j}: a part w that all clients share and n_j × K
coefficients of the client's own rows. A stack is kept in that form (`Span`), linear operations act on it exactly,
and the only products of full size are A·w and Aᵀβ, once a round. Proximal steps are solved in the n_j-dimensional
coefficients through the Gram matrices K_j = A_j A_jᵀ.
"""

import numpy as np

from fedrepro.maths.losses import LOSSES
from fedrepro.maths.nesterov import accelerate
from fedrepro.maths.newton import newton

PROX_TOLERANCE = 1e-9  # of the gradient of the proximal objective; the paper stops at 1e-8


class Span:
    """A stack whose row j is shared + A_jᵀ coefficients_j."""

    __array_ufunc__ = None  # let `2 * x - z` come here when x is an array

    def __init__(self, shared: np.ndarray, coefficients: np.ndarray):
        self.shared, self.coefficients = shared, coefficients

    def __add__(self, other):
        if isinstance(other, Span):
            return Span(self.shared + other.shared, self.coefficients + other.coefficients)
        return Span(self.shared + other, self.coefficients)

    def __mul__(self, scale: float):
        return Span(scale * self.shared, scale * self.coefficients)

    def __truediv__(self, scale: float):
        return (1.0 / scale) * self

    def __neg__(self):
        return -1.0 * self

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    __radd__, __rmul__ = __add__, __mul__


class WideLinearModels:
    """f_j(X) = Σ_i Σ_k φ(a_ijᵀx_k, b_ijk) + (ridge/2)‖X‖² for X of d × K. Pathak & Wainwright, eq. (21).

    `design` offers `forward(X) = A X` over all rows, `backward(B) = Aᵀ B`, and `gram()` of every client.
    """

    def __init__(self, loss: str, design, targets: np.ndarray, ridge: float):
        self.loss, self.design, self.ridge = LOSSES[loss], design, ridge
        self.mask = design.mask  # (m, n): which places of the padded layout hold a row
        self.m, self.shape = len(self.mask), (design.columns, targets.shape[1])
        self.b = self.pad(targets, fill=1.0)
        self.K = design.gram()
        self._last = None

    def pad(self, rows: np.ndarray, fill: float = 0.0) -> np.ndarray:
        out = np.full((*self.mask.shape, rows.shape[1]), fill)
        out[self.mask] = rows
        return out

    def stack(self, x):
        return Span(x, np.zeros_like(self.b))

    def mean(self, z: Span):
        return z.shared + self.design.backward(z.coefficients[self.mask]) / self.m

    def predict(self, z: Span):
        """A_j z_j."""
        return self.pad(self.design.forward(z.shared)) + np.matmul(self.K, z.coefficients)

    def value_at(self, x) -> float:
        """Σ_j f_j at a point all clients share."""
        fit = self.loss.value(self.pad(self.design.forward(x)), self.b)
        return float(np.sum(fit[self.mask]) + 0.5 * self.m * self.ridge * np.sum(x * x))

    def slope(self, u):
        return self.loss.slope(u, self.b) * self.mask[..., None]

    def gradient(self, z: Span):
        slope = Span(np.zeros(self.shape), self.slope(self.predict(z)))
        return slope + self.ridge * z

    def smoothness(self) -> np.ndarray:
        """L_j."""
        return self.loss.smoothness * np.linalg.eigvalsh(self.K)[:, -1] + self.ridge

    # The minimiser of step·f_j(u) + ½‖u − v_j‖² is u = (v_j − step A_jᵀα)/c with c = 1 + step·ridge and α = φ'(A_j u).
    # For any α the gradient of that objective at u(α) is step A_jᵀρ with the residual ρ = φ'(A_j u(α)) − α.

    def prox(self, v: Span, step: float, start=None):
        """The prox by damped Newton in the coefficients. The columns of a client do not interact: every
        (client, column) pair has its own line search and drops out when its gradient is below the tolerance."""
        c = 1.0 + step * self.ridge
        Av, alpha = self.predict(v), self._start()
        for j in range(self.m):
            n = int(self.mask[j].sum())
            own = self._coefficients(self.K[j, :n, :n], Av[j, :n].T, self.b[j, :n].T, alpha[j, :n].T, step, c)
            alpha[j, :n] = own.T
        return self._solution(v, alpha, step, c)

    def _coefficients(self, K, Av, b, alpha, step, c):
        """α for all columns of one client, each a row here: minimise step Σφ(u) + (step²/2c) αᵀKα over
        u = (Av − step Kα)/c."""
        eye = np.eye(len(K))

        def value(a, rows):
            Ka = a @ K
            fit = self.loss.value((Av[rows] - step * Ka) / c, b[rows]).sum(axis=1)
            return step * fit + 0.5 * step**2 / c * np.einsum("kn,kn->k", a, Ka)

        def direction(a, rows):
            u = (Av[rows] - step * (a @ K)) / c
            rho = self.loss.slope(u, b[rows]) - a
            Krho = rho @ K
            going = np.flatnonzero(step**2 * np.einsum("kn,kn->k", rho, Krho) > PROX_TOLERANCE**2)
            rho, D = rho[going], self.loss.curvature(u[going], b[rows[going]])
            move = np.linalg.solve(eye + (step / c) * D[:, :, None] * K, rho[:, :, None])[..., 0]
            return going, move, step**2 / c * np.einsum("kn,kn->k", Krho[going], move)

        return newton(alpha, value, direction, f"a proximal step of size {step:.3g}")

    def accelerated_prox(self, v: Span, step: float, tolerance: float):
        """Nesterov's method on the same objective, iterate for iterate what it would do in d × K dimensions,
        until every client's gradient is below `tolerance`; and how many local gradients that took."""
        c = 1.0 + step * self.ridge
        high = c + step * (self.smoothness().max() - self.ridge)
        Av = self.predict(v)

        def descend(alpha):
            """u − (1/high)·step A_jᵀρ is u(α + (c/high)ρ)."""
            rho = self.slope((Av - step * np.matmul(self.K, alpha)) / c) - alpha
            return alpha + (c / high) * rho, step**2 * np.einsum("jnk,jnk->j", rho, np.matmul(self.K, rho))

        alpha, count = accelerate(self._start(), descend, c, high, tolerance)
        return self._solution(v, alpha, step, c), count * self.m

    def _start(self):
        """Where the last proximal step ended."""
        return np.zeros_like(self.b) if self._last is None else self._last.copy()

    def _solution(self, v: Span, alpha, step, c):
        self._last = alpha
        return Span(v.shared / c, (v.coefficients - step * alpha) / c)
