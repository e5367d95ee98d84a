"""GIANT: the harmonic mean of local Hessians, exactly. Wang et al. 2018, as run by Dal Fabbro et al., section 6.7."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fedrepro.algorithms import algorithm
from fedrepro.algorithms.parts.backtracking import armijo
from fedrepro.maths.domains import Fraction


@algorithm(needs={"gradient", "hessian", "pooled"})
def giant(agents, *, alpha: Fraction = 0.1, beta: Fraction = 0.5):
    """Three communication rounds an iteration: gradients up, the global gradient down and local Newton
    directions up, and the backtracking."""
    x = agents.start
    while True:
        agents.receive(x)
        g = agents.mean_gradient(x)
        agents.receive(g)  # the extra round
        local = np.stack([newton(H, g) for H in agents.hessians(x)])
        p = agents.weights @ agents.collect(local)
        x = x - armijo(agents, x, p, g, alpha, beta) * p
        yield x


def newton(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """H⁻¹g; the transpose has the order that LAPACK works in, and its lower factor is the quicker one."""
    return cho_solve(cho_factor(H.T, lower=True, check_finite=False), g, check_finite=False)
