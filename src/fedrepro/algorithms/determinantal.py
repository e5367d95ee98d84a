"""Determinantal averaging of local Newton directions. Dereziński & Mahoney 2019, in GIANT's place (Dal Fabbro et al.,
section 6.7)."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fedrepro.algorithms import algorithm
from fedrepro.algorithms.parts.backtracking import armijo


@algorithm(needs={"gradient", "hessian", "pooled", "vectors"})
def determinantal(agents, *, alpha=0.1, beta=0.5):
    """p = Σ_i p_i det(H_i) H_i⁻¹g / Σ_i p_i det(H_i), which for random H_i has no inversion bias. Rounds as in GIANT;
    a direction travels with the logarithm of its determinant."""
    x = agents.start
    while True:
        agents.receive(x)
        g = agents.mean_gradient(x)
        agents.receive(g)  # the extra round
        local, size = map(np.stack, zip(*(direction(H, g) for H in agents.hessians(x)), strict=True))
        agents.send_vectors(0, scalars=agents.m)
        share = agents.weights * np.exp(size - size.max())
        p = share @ agents.collect(local) / share.sum()
        x = x - armijo(agents, x, p, g, alpha, beta) * p
        yield x


def direction(H: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, float]:
    """H⁻¹g and log det H from one Cholesky factorisation."""
    factor = cho_factor(H.T, lower=True, check_finite=False)
    return cho_solve(factor, g, check_finite=False), 2.0 * float(np.log(np.diag(factor[0])).sum())
