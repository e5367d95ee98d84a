"""CoCoA+: local dual coordinate ascent whose changes are added, not averaged. Ma et al. 2015, Algorithm 1."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count, Share
from fedrepro.maths.kernels.dual_ascent import ascend


@algorithm(needs={"rectangles", "whole_samples"})
def cocoa(clients, *, inner: Count, gamma: Share = 1.0):
    """Clients hold whole samples and keep their duals; w goes down, Δw_k = X_kᵀΔα_k/(λN) comes up and w ← w + γΣΔw_k.

    Θ is reached by a pass of SDCA over `inner` samples on the subproblem (9) with σ' = γK, safe for any data. It is
    what HyFDCA's `refreshed` local method becomes where nobody shares a sample, without the duals' way to the server.
    """
    sigma = gamma * clients.m
    squares = [own.squares() for own in clients.data.clients]
    while True:
        present, _ = clients.available()
        clients.send_weights(present)
        changes = {}
        for k in present:
            own, alpha = clients.data.clients[k], clients.alpha[k].copy()
            v = np.zeros(len(own.columns))
            order = clients.choose(k, inner)
            ascend(own.X, own.y, alpha, own.X @ clients.w[k], squares[k], order, clients.scale, sigma, v)
            clients.alpha[k] += gamma * (alpha - clients.alpha[k])
            changes[k] = gamma * v / sigma
        clients.collect_changes(changes)
        yield clients.server.w.copy()
