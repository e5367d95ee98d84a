"""Federated Armijo backtracking: one extra round in which agents send their losses for all candidate steps.

Dal Fabbro et al., Algorithm 2 and section 6.2, after Wang et al. 2018.
"""

import numpy as np


def armijo(agents, x, p, g, alpha: float, beta: float, candidates: int = 20) -> float:
    """The first η of 1, β, β², … with f(θ − ηp) ≤ f(θ) − αη pᵀg; the last candidate where none does."""
    steps = beta ** np.arange(candidates, dtype=float)
    enough = agents.decrease(x, p, g, steps) >= alpha * steps * float(p @ g)
    return float(steps[np.argmax(enough)] if enough.any() else steps[-1])
