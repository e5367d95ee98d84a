"""The federation of Niu & Wei: clients that take gradient-type or Newton-type updates, and their duals."""

from dataclasses import dataclass

import numpy as np

from fedrepro import lagrangian
from fedrepro.columns import Shifted
from fedrepro.federation import Clients
from fedrepro.ledger import Ledger


@dataclass
class HybridLedger(Ledger):
    products: int = 0  # local products of a Hessian with a vector


class HybridClients(Clients):
    """Adds Newton oracles; every stack may carry a last axis of trials."""

    def __init__(self, costs, start=None, constants=None):
        super().__init__(costs, constants=constants)
        self.start = self.start if start is None else start
        self.ledger = HybridLedger()
        self.primal = self.dual = self.stack(0.0 * self.start)  # as last sent to the server
        self.mu = np.nan  # until the first round

    def offers(self):
        return super().offers() | {"curvature", "pooled"}

    def step(self, rule):
        """A column of trial stepsizes is taken as it is."""
        return rule if isinstance(rule, np.ndarray) else super().step(rule)

    # --- who takes which update ---

    def newton_clients(self, count: int | str, chosen: str) -> np.ndarray:
        """J2: the first `count` (a number, `half` or `all`) of the clients in random order, or from stiff to soft."""
        count = {"half": self.m // 2, "all": self.m}.get(count, count)
        if not 0 <= count <= self.m:
            raise ValueError(f"{count} Newton clients of {self.m}; take a number from 0 to {self.m}")
        order = {
            "random": lambda: self.constants["order"],
            "stiffest": lambda: np.argsort(-np.asarray(self.constants["high"]), kind="stable"),
        }[chosen]()
        return np.sort(np.asarray(order[:count], int))

    def personal(self, J2, mu, a, b, newton_a, newton_b) -> tuple[np.ndarray, np.ndarray]:
        """(a_i) and (b_i), shaped to multiply a stack."""
        if isinstance(a, str) and a == "bound":
            a, b = lagrangian.largest_steps(self.constants["low"], self.constants["high"], J2, mu)
            return a[:, None], b[:, None]
        second = np.isin(np.arange(self.m), J2).reshape(-1, *(1,) * self.start.ndim)
        return np.where(second, newton_a, a), np.where(second, newton_b, b)

    # --- local computation ---

    def curvature(self, x, rows, mu) -> Shifted:
        """∇²f_i(x_i) + μI of the clients `rows`."""
        self.ledger.hessians += len(rows)
        return self.costs.curvature(x, rows, mu)

    def products(self, x, u):
        """∇²f_i(x_i) u_i."""
        self.ledger.products += self.m
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

    def send_vectors(self, each: int) -> None:
        """Every client sends so many vectors of R^d, in the message that is under way."""
        self.ledger.floats_up += self.m * each * self.start.size

    def mean_gradient(self, x):
        """Every client sends ∇f_i(x); the server has their mean."""
        return self.average(self.gradients(x))

    def decrease(self, x, p, g, candidates: int):
        """The server sends p; every client answers with its change of cost for each candidate stepsize, all in one
        message. Returns the function η ↦ mean of f_i(x) − f_i(x − ηp), from the slope and the Bregman term."""
        self.receive(p)
        self.ledger.up(self.m, candidates)
        here, along, slope = self.stack(x), self.stack(p), float(g @ p)
        return lambda eta: eta * slope - float(np.mean(self.costs.divergence(here - eta * along, here)))

    def consensus(self, x, dual, mu):
        """Line 12 of Algorithm 1, eq. (3.9): every client sends x_i and λ_i."""
        self.primal, self.dual, self.mu = x, dual, mu
        return self.average(x) - self.average(dual) / mu
