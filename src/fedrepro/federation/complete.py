"""Clients that answer everything a method for smooth costs may ask, so that all such methods meet on one problem."""

import numpy as np

from fedrepro.federation.agents import Agents
from fedrepro.federation.primal_dual import PrimalDualClients
from fedrepro.federation.protocol import oracle
from fedrepro.maths.columns import Shifted


class CompleteClients(Agents):
    """m clients of equal weight, f = (1/m)Σ f_j; clients of unequal sizes have them in their costs."""

    update_matrix, consensus = PrimalDualClients.update_matrix, PrimalDualClients.consensus

    def __init__(self, costs, pooled, start=None, constants=None, seed: int = 0):
        super().__init__(costs, pooled, np.full(costs.m, 1.0 / costs.m), start, constants, seed)

    @oracle("curvature")
    def curvature(self, x, rows, mu) -> Shifted:
        """∇²f_i(x_i) + μI of the clients `rows`."""
        self.ledger.work(hessians=len(rows))
        M = self.costs.hessian(self._rows(x))[rows] + mu * np.eye(self.n)
        return Shifted(
            lambda r: np.linalg.solve(M, r[..., None])[..., 0], lambda r: np.matmul(M, r[..., None])[..., 0]
        )

    def products(self, x, u):
        """∇²f_i(x_i) u_i."""
        self.ledger.work(products=self.m)
        return np.matmul(self.costs.hessian(self._rows(x)), u[..., None])[..., 0]
