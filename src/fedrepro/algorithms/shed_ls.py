"""SHED-LS: SHED for least squares, whose Hessian never changes. Dal Fabbro et al., Algorithms 1 and 3."""

from itertools import count
from typing import Literal

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.algorithms.parts.eigenpairs import EigenPairs
from fedrepro.algorithms.parts.renewals import rule
from fedrepro.maths.domains import Count


@algorithm(needs={"gradient", "hessian", "pooled", "vectors"})
def shed_ls(
    agents,
    *,
    increment: Count | Literal["channel"] = 1,
    rho: Literal["optimal", "next"] = "optimal",
    renewals: Literal["once", "periodic", "fibonacci", "always"] = "once",
    period: Count = 35,
):
    """`rho` is `optimal`, ρ* = (λ_{q+1} + λ_n)/2 with step 1 (Corollary 2), or `next`, λ_{q+1} with the step
    of eq. (11), Erdogdu & Montanari's choice at its best.

    `renewals: periodic` is Algorithm 3: every T = `period` iterations the EEPs are sent anew.
    """
    due = rule(renewals, agents.n, period)
    x, pairs = agents.start, None
    hessians = agents.hessians(x)  # once: H_LS does not depend on θ
    for t in count(1):
        agents.receive(x)
        if due(t, []):
            pairs = EigenPairs(agents, hessians, before=pairs)
        g = agents.mean_gradient(x)
        following = pairs.share(agents.increments(increment))
        best = (following + pairs.smallest()) / 2  # ρ_t*, eq. (8)
        if rho == "optimal":
            x = x - pairs.direction(best, g)
        else:
            step = (agents.weights @ following) / (agents.weights @ best)  # η_t*, eq. (11)
            x = x - np.float64(step) * pairs.direction(following, g)
        yield x
