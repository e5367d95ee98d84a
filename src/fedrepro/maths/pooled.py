"""f = Σ_i p_i f_i over the rows of all clients at once: what a server that only ever sums them can be given."""

import numpy as np

from fedrepro.maths.costs import LinearModels, Quadratics
from fedrepro.maths.stacks import DenseStack


class PooledLogistic(LinearModels):
    """f(θ) = Σ_i w_i log(1 + exp(−b_i x_iᵀθ)) + (μ/2)‖θ‖² over all rows together, as costs of a single client."""

    def __init__(self, matrix, labels: np.ndarray, weights: np.ndarray, ridge: float):
        super().__init__("logistic", [matrix], [labels], [weights], ridge)
        self._at, self._predictions, self._searched, self._ahead = None, None, None, None

    def predictions(self, x: np.ndarray) -> np.ndarray:
        """Xθ; kept for the point asked for last, since gradient, line search and gap all need it. At the end of
        a line search, θ − ηp, it is Xθ − ηXp, both of which are known."""
        if self._at is not x:
            known = None
            if self._searched is not None:
                start, p, u, du, eta = self._searched
                known = u + eta * du if np.array_equal(start - eta * p, x) else None
            if known is None:
                known = self.along(np.zeros_like(x), x, np.zeros_like(self.b))
            self._at, self._predictions = x, known
        return self._predictions

    def slope(self, x: np.ndarray) -> np.ndarray:
        """∇f, mostly found already on the way to the predictions."""
        u = self.predictions(x)
        if self._ahead is not None and np.array_equal(self._ahead[0], x):
            fit = self._ahead[1]
        else:
            fit = self.data.adjoint(self.w * self.loss.slope(u, self.b))[0]
        return fit + self.ridge * x

    def along(self, x: np.ndarray, step: np.ndarray, u: np.ndarray) -> np.ndarray:
        """X·step; over dense rows with the slope at θ + step, which costs little more. u is Xθ."""
        if not isinstance(self.data, DenseStack):
            return self.data.predict(step[None])
        from fedrepro.maths.kernels.logistic_step import full_step  # compiling is for those who need it

        du, g = np.empty_like(u), np.empty_like(x)
        full_step(self.data.A[0], self.b[0], self.w[0], u[0], step, du[0], g)
        self._ahead = x + step, g
        return du

    def decrease(self, x: np.ndarray, p: np.ndarray, g: np.ndarray):
        """The function η ↦ f(θ) − f(θ − ηp), from the slope and the Bregman term: no two nearly equal sums."""
        u = self.predictions(x)
        du = self.along(x, -p, u)
        slope, size = float(g @ p), 0.5 * self.ridge * float(p @ p)

        def decrease(eta):
            self._searched = x, p, u, du, eta
            bregman = float(np.sum(self.w * self.loss.divergence(u + eta * du, u, self.b)))
            return eta * slope - bregman - eta**2 * size

        return decrease

    def gap_from(self, optimum: np.ndarray):
        """The function θ ↦ f(θ) − f(θ*)."""
        v = self.data.predict(optimum[None])

        def gap(x):
            fit = np.sum(self.w * self.loss.divergence(self.predictions(x), v, self.b))
            return float(fit) + 0.5 * self.ridge * float(np.sum((x - optimum) ** 2))

        return gap


class PooledQuadratic(Quadratics):
    """The same for f(θ) = ½θᵀHθ − cᵀθ + e."""

    def slope(self, x):
        return self.G[0] @ x - self.c[0]

    def decrease(self, x, p, g):
        slope, bend = float(g @ p), 0.5 * float(p @ (self.G[0] @ p))
        return lambda eta: eta * slope - eta**2 * bend

    def gap_from(self, optimum):
        return lambda x: self.gap(x, optimum)
