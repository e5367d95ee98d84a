"""GIANT on the federation of Niu & Wei: the same method as on SHED's agents."""

import numpy as np

from consensus_federations import federation, logistic
from fedrepro.algorithms.giant import giant
from fedrepro.federation.agents import Agents
from fedrepro.maths.pooled import PooledLogistic


def test_takes_the_steps_it_takes_among_agents():
    costs = logistic(n=4)
    weights = np.full(4, 0.25)
    pooled = PooledLogistic(np.concatenate(costs.A), costs.b, 0.25 * costs.w, costs.ridge)
    agents = Agents(costs, pooled, weights)
    ours = federation(costs)
    for one, other, _ in zip(giant(ours), giant(agents), range(5), strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    for name in ("floats_up", "floats_down", "messages", "exchanges", "gradients", "hessians"):
        assert getattr(ours.ledger, name) == getattr(agents.ledger, name), name
