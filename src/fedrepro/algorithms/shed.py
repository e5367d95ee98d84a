"""SHED: Newton-type steps from incrementally shared Hessian eigenvectors. Dal Fabbro et al., Algorithm 4."""

from itertools import count
from typing import Literal

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.algorithms.parts.backtracking import armijo
from fedrepro.algorithms.parts.eigenpairs import EigenPairs
from fedrepro.algorithms.parts.renewals import rule
from fedrepro.maths.domains import Count, Fraction, Positive


@algorithm(needs={"gradient", "hessian", "pooled", "vectors"})
def shed(
    agents,
    *,
    renewals: Literal["fibonacci", "periodic", "gradient_norm", "always", "once"] = "fibonacci",
    increment: Count | Literal["channel"] = 1,
    period: Count = 25,
    b: Positive = 1.0,
    reverse: bool = False,
    alpha: Fraction = 0.1,
    beta: Fraction = 0.5,
):
    """`increment` is d_t, a number or `channel` (eq. 38); `renewals` decides I (section 5.1).

    Each iteration is two communication rounds, of which the second is the backtracking's (section 6.2).
    """
    due, once = rule(renewals, agents.n, period, b, reverse), renewals == "always"
    x, norms, pairs = agents.start, [], None
    for t in count(1):
        agents.receive(x)
        if due(t, norms):  # t ∈ I: a renewal; q_{t−1} ← 0
            hessians = agents.curvatures(x) if once else agents.hessians(x)
            pairs = EigenPairs(agents, hessians, before=pairs, once=once)
        g = agents.mean_gradient(x)
        rho = pairs.share(agents.increments(increment))  # ρ̂_t = λ̂_{q_t+1}, eq. (29)
        p = pairs.direction(rho, g)
        x = x - armijo(agents, x, p, g, alpha, beta) * p  # eq. (3)
        norms.append(float(np.linalg.norm(g)))
        yield x
