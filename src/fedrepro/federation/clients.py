"""The federation: a server, m clients, and a ledger of everything the clients send, receive and compute.

An algorithm talks to `Clients` only, so it cannot forget to count.
"""

from collections.abc import Sequence

import numpy as np

from fedrepro.federation.protocol import Federation, oracle
from fedrepro.maths import optimum
from fedrepro.maths.costs import LinearModels, Quadratics
from fedrepro.maths.losses import LOSSES
from fedrepro.maths.nesterov import accelerate


class Clients(Federation):
    """Stacked local costs seen from an algorithm: oracles that count, and messages that count."""

    def __init__(self, costs, start: np.ndarray | None = None, constants: dict | None = None, weights=None):
        start = np.zeros(costs.shape) if start is None else np.asarray(start, float)
        super().__init__(costs.m, start, constants)
        self.costs, self.shape = costs, costs.shape
        self.weights = np.full(self.m, 1.0 / self.m) if weights is None else np.asarray(weights, float)

    @classmethod
    def from_arrays(
        cls, X: Sequence, y: Sequence, *, loss: str = "least_squares", ridge: float = 0.0
    ) -> "Clients":
        """Clients with data of one's own: X[j], of n_j rows, dense or sparse, and y[j] are client j's.

        f_j(x) = (1/n_j) Σ_i φ(X[j]_i x, y[j]_i) + (ridge/2)‖x‖² with φ(u, b) = (u − b)²/2, or log(1 + exp(−bu)) and
        labels ±1 for `loss="logistic"`. The stepsize rules' constants, `1/L*` and so on, are those at the optimum.
        """
        if loss not in LOSSES:
            raise ValueError(f"loss '{loss}' is none of: {', '.join(LOSSES)}")
        if len(X) != len(y) or any(np.shape(a)[0] != len(b) for a, b in zip(X, y, strict=False)):
            raise ValueError("X and y need one entry for every client, with as many rows in X[j] as in y[j]")
        y = [np.asarray(b, float) for b in y]
        if loss == "logistic" and not all(np.isin(b, (-1, 1)).all() for b in y):
            raise ValueError("the logistic loss takes labels -1 and 1")
        shares = [1.0 / len(b) for b in y]
        if loss == "least_squares":
            costs = Quadratics.least_squares(X, y, shares, ridge)
        else:
            weights = [np.full(len(b), share) for b, share in zip(y, shares, strict=True)]
            costs = LinearModels(loss, X, y, weights, ridge)
        best = optimum.minimiser(costs)
        found = cls(costs, constants=optimum.constants(costs, best))
        found.optimum = best
        return found

    # --- communication ---

    def stack(self, x: np.ndarray) -> np.ndarray:
        """A copy of x for every client, one row each. Local: nothing is sent."""
        return np.repeat(x[None], self.m, axis=0)

    def receive(self, x: np.ndarray) -> np.ndarray:
        """The server sends x to every client."""
        self.ledger.down(self.m * x.size, self.m)
        return x

    def average(self, z: np.ndarray) -> np.ndarray:
        """Every client sends its row of z; the server takes the mean."""
        return self.collect(z).mean(axis=0)

    def collect(self, z: np.ndarray) -> np.ndarray:
        """Every client sends its row of z to the server."""
        self.ledger.up(z.size, len(z))
        return z

    # --- local computation ---

    @oracle("value")
    def values(self, x: np.ndarray) -> np.ndarray:
        return self.costs.value(self._rows(x))

    @oracle("gradient")
    def gradients(self, x: np.ndarray) -> np.ndarray:
        """∇f_j at the client's own row of x, or at a shared x."""
        self.ledger.work(gradients=self.m)
        return self.costs.gradient(self._rows(x))

    @oracle("hessian")
    def hessians(self, x: np.ndarray) -> np.ndarray:
        self.ledger.work(hessians=self.m)
        return self.costs.hessian(self._rows(x))

    def curvatures(self, x: np.ndarray):
        """The same ∇²f_j for methods that only multiply them with a few vectors (`H @ v`, `H - matrix`): maps where
        the costs have them, which is cheaper. What a client is said to compute is the Hessian all the same."""
        self.ledger.work(hessians=self.m)
        return getattr(self.costs, "curvatures", self.costs.hessian)(self._rows(x))

    @oracle("prox")
    def prox(self, v: np.ndarray, step: float, start: np.ndarray | None = None) -> np.ndarray:
        """prox_{step f_j}(v_j), solved exactly; `start` only saves work."""
        self.ledger.work(proxes=self.m)
        return self.costs.prox(v, step, start)

    def prox_by_gradient(self, v: np.ndarray, step: float, local_steps: int, start: np.ndarray) -> np.ndarray:
        """An inexact prox: `local_steps` gradient steps on h_j(u) = step f_j(u) + ½‖u − v_j‖² from `start`,
        with the stepsize of Pathak & Wainwright, Corollary 1. Their eq. (17) lacks a pair of parentheses;
        this is u − α(s∇f_j(u) + (u − v_j))."""
        self.ledger.work(proxes=self.m)
        alpha = 1.0 / (1.0 + step * (self.constants["l*"] + self.constants["L*"]) / 2.0)
        u = start
        for _ in range(local_steps):
            u = u - alpha * (step * self.gradients(u) + u - v)
        self.inexact = (v, step, start, u)  # for an observer who wants to know how far off it is
        return u

    def prox_by_acceleration(self, v, step: float, tolerance: float, start=None):
        """A prox by Nesterov's accelerated gradient, stopped when every ‖∇h_j‖ is below `tolerance`
        (Pathak & Wainwright, footnote 4). Costs that know a cheaper way to run it do so themselves."""
        self.ledger.work(proxes=self.m)
        if hasattr(self.costs, "accelerated_prox"):
            u, evaluations = self.costs.accelerated_prox(v, step, tolerance)
            self.ledger.work(gradients=evaluations)
            return u
        low, high = 1.0 + step * self.constants["l*"], 1.0 + step * self.constants["L*"]

        def descend(u):
            g = step * self.gradients(u) + u - v
            return u - g / high, np.sum(g * g, axis=tuple(range(1, v.ndim)))

        return accelerate(v if start is None else start, descend, low, high, tolerance)[0]

    def _rows(self, x: np.ndarray) -> np.ndarray:
        return x if x.ndim > len(self.shape) else np.broadcast_to(x, (self.m, *self.shape))
