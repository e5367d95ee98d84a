"""Agents: a federation whose clients hold unequal shares p_i of the data and send vectors of R^n.

f = Σ_i p_i f_i with p_i = N_i/N (Dal Fabbro et al., section 2.1). The master only ever uses weighted sums of
gradients and losses, so these are computed over all rows at once (`pooled`); what each agent sends is counted
all the same.
"""

import numpy as np

from fedrepro.federation.clients import Clients
from fedrepro.federation.protocol import oracle
from fedrepro.maths.seeds import stream


class Agents(Clients):
    """M agents and the channel that limits how many eigenvectors each can send in a round."""

    def __init__(self, costs, pooled, weights, start=None, constants=None, seed: int = 0):
        super().__init__(costs, start, constants, weights)
        self.pooled = pooled
        self.n = self.shape[0]
        self._fading = stream(seed, "channel")

    @oracle("vectors")
    def send_vectors(self, each: np.ndarray | int, scalars: int = 0) -> None:
        """Every agent i sends each_i vectors of R^n and some scalars, in the message that is under way."""
        total = int(np.sum(np.broadcast_to(each, self.m)))
        self.ledger.up(total * self.n + scalars, 0, vectors=total / self.m)

    def collect(self, z: np.ndarray) -> np.ndarray:
        self.ledger.up(z.size, self.m, vectors=1.0)
        return z

    def average(self, z: np.ndarray) -> np.ndarray:
        """Every agent sends its row of z; the master takes the mean weighted by p_i."""
        return self.weights @ self.collect(z)

    @oracle("pooled")
    def mean_gradient(self, x: np.ndarray) -> np.ndarray:
        """Every agent sends ∇f_i(θ); the master has Σ_i p_i ∇f_i(θ)."""
        self.ledger.work(gradients=self.m)
        self.ledger.up(self.m * self.n, self.m, vectors=1.0)
        return self.pooled.slope(x)

    def decrease(self, x, p, g, candidates: int):
        """The master sends p; every agent answers with its change of loss for each candidate stepsize, all in
        one message (section 6.2). Returns the function the master reads them from, f(θ) − f(θ − ηp)."""
        self.receive(p)
        self.ledger.up(self.m * candidates, self.m)
        return self.pooled.decrease(x, p, g)

    def increments(self, rule: int | str) -> np.ndarray:
        """d_t⁽ⁱ⁾: a number for all, or `channel`, what Rayleigh fading lets each agent send.

        d_γ = ⌊d_0 log₂(1 + γΓ)⌋ with γ ~ Exp(1), Γ = 5, d_0 = 2: eq. (38).
        """
        if rule == "channel":
            gamma = self._fading.exponential(1.0, self.m)
            return np.floor(2.0 * np.log2(1.0 + 5.0 * gamma)).astype(int)
        return np.full(self.m, int(rule))
