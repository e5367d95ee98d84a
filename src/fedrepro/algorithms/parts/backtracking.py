"""Federated Armijo backtracking: one extra round in which agents send their losses for all candidate steps.

Dal Fabbro et al., Algorithm 2 and section 6.2, after Wang et al. 2018.
"""


def armijo(agents, x, p, g, alpha: float, beta: float, candidates: int = 20) -> float:
    """The first η of 1, β, β², … with f(θ − ηp) ≤ f(θ) − αη pᵀg; the last candidate where none does."""
    decrease, slope = agents.decrease(x, p, g, candidates), float(p @ g)
    steps = [beta**k for k in range(candidates)]
    return next((eta for eta in steps if decrease(eta) >= alpha * eta * slope), steps[-1])
