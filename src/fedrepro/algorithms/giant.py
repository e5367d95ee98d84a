"""GIANT: the harmonic mean of local Hessians, exactly. Wang et al. 2018, as run by Dal Fabbro et al., section 6.7."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.backtracking import armijo


@algorithm(needs={"gradient", "hessian"})
def giant(agents, *, alpha=0.1, beta=0.5):
    """Three communication rounds an iteration: gradients up, the global gradient down and local Newton
    directions up, and the backtracking."""
    x = agents.start
    while True:
        agents.receive(x)
        g = agents.mean_gradient(x)
        agents.receive(g)  # the extra round
        local = np.linalg.solve(agents.hessians(x), np.broadcast_to(g[:, None], (agents.m, agents.n, 1)))
        agents.ledger.messages += agents.m
        agents.send_vectors(1)
        p = agents.weights @ local[..., 0]
        x = x - armijo(agents, x, p, g, alpha, beta) * p
        yield x
