"""The federation of Niu & Wei: clients that take gradient-type or Newton-type updates, and their duals."""

import numpy as np

from fedrepro.federation.clients import Clients
from fedrepro.federation.protocol import oracle
from fedrepro.maths.columns import Shifted


class PrimalDualClients(Clients):
    """Adds Newton oracles; every stack may carry a last axis of trials."""

    prox = None  # costs with a column per trial have none

    def __init__(self, costs, start=None, constants=None):
        super().__init__(costs, constants=constants)
        self.start = self.start if start is None else start
        self.primal = self.dual = self.stack(0.0 * self.start)  # as last sent to the server
        self.mu = np.nan  # until the first round

    def step(self, rule):
        """A column of trial stepsizes is taken as it is."""
        return rule if isinstance(rule, np.ndarray) else super().step(rule)

    # --- local computation ---

    @oracle("curvature")
    def curvature(self, x, rows, mu) -> Shifted:
        """∇²f_i(x_i) + μI of the clients `rows`."""
        self.ledger.work(hessians=len(rows))
        return self.costs.curvature(x, rows, mu)

    def products(self, x, u):
        """∇²f_i(x_i) u_i."""
        self.ledger.work(products=self.m)
        return self.costs.products(x, u)

    def update_matrix(self, x, J2, mu) -> Shifted:
        """D of (3.8): the identity for J1, ∇²f_i(x_i) + μI for J2."""
        if len(J2) == 0:
            return Shifted(np.copy, np.copy)
        near = self.curvature(x, J2, mu)

        def only(function):
            def onto(r):
                out = r.copy()
                out[J2] = function(r[J2])
                return out

            return onto

        return Shifted(only(near.solve), only(near.apply))

    # --- communication ---

    @oracle("pooled")
    def mean_gradient(self, x):
        """Every client sends ∇f_i(x); the server has their mean."""
        return self.average(self.gradients(x))

    def decrease(self, x, p, g, candidates: int):
        """The server sends p; every client answers with its change of cost for each candidate stepsize, all in one
        message. Returns the function η ↦ mean of f_i(x) − f_i(x − ηp), from the slope and the Bregman term."""
        self.receive(p)
        self.ledger.up(self.m * candidates, self.m)
        here, along, slope = self.stack(x), self.stack(p), float(g @ p)
        return lambda eta: eta * slope - float(np.mean(self.costs.divergence(here - eta * along, here)))

    def consensus(self, x, dual, mu):
        """Line 12 of Algorithm 1, eq. (3.9): every client sends x_i and λ_i, in one message."""
        self.primal, self.dual, self.mu = x, dual, mu
        self.ledger.up(x.size + dual.size, self.m)
        return x.mean(axis=0) - dual.mean(axis=0) / mu
