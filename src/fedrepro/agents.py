"""Agents: a federation whose clients hold unequal shares p_i of the data and send vectors of R^n.

f = Σ_i p_i f_i with p_i = N_i/N (Dal Fabbro et al., section 2.1). The master only ever uses weighted sums of
gradients and losses, so these are computed over all rows at once (`pooled`); what each agent sends is counted
all the same.
"""

from dataclasses import dataclass

import numpy as np

from fedrepro.costs import LinearModels, Quadratics
from fedrepro.federation import Clients
from fedrepro.ledger import Ledger
from fedrepro.seeds import stream
from fedrepro.stacks import DenseStack


@dataclass
class VectorLedger(Ledger):
    """Also counts what the paper plots: vectors of R^n sent by an agent, on average over the agents."""

    vectors: float = 0.0


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
        from fedrepro.kernels.logistic_step import full_step  # compiling is for those who need it

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


class Agents(Clients):
    """M agents and the channel that limits how many eigenvectors each can send in a round."""

    def __init__(self, costs, pooled, weights, start=None, constants=None, seed: int = 0):
        super().__init__(costs, start, constants, weights)
        self.pooled = pooled
        self.n = self.shape[0]
        self.ledger = VectorLedger()
        self._fading = stream(seed, "channel")

    def offers(self):
        """`pooled`: weighted sums over all agents, which the methods here are written in."""
        return super().offers() | {"pooled"}

    def send_vectors(self, each: np.ndarray | int, scalars: int = 0) -> None:
        """Every agent i sends each_i vectors of R^n and some scalars, in the message that is under way."""
        total = int(np.sum(np.broadcast_to(each, self.m)))
        self.ledger.floats_up += total * self.n + scalars
        self.ledger.vectors += total / self.m

    def mean_gradient(self, x: np.ndarray) -> np.ndarray:
        """Every agent sends ∇f_i(θ); the master has Σ_i p_i ∇f_i(θ)."""
        self.ledger.gradients += self.m
        self.ledger.messages += self.m
        self.send_vectors(1)
        return self.pooled.slope(x)

    def decrease(self, x, p, g, candidates: int):
        """The master sends p; every agent answers with its change of loss for each candidate stepsize, all in
        one message (section 6.2). Returns the function the master reads them from, f(θ) − f(θ − ηp)."""
        self.receive(p)
        self.ledger.up(self.m, candidates)
        return self.pooled.decrease(x, p, g)

    def increments(self, rule: int | str) -> np.ndarray:
        """d_t⁽ⁱ⁾: a number for all, or `channel`, what Rayleigh fading lets each agent send.

        d_γ = ⌊d_0 log₂(1 + γΓ)⌋ with γ ~ Exp(1), Γ = 5, d_0 = 2: eq. (38).
        """
        if rule == "channel":
            gamma = self._fading.exponential(1.0, self.m)
            return np.floor(2.0 * np.log2(1.0 + 5.0 * gamma)).astype(int)
        return np.full(self.m, int(rule))
