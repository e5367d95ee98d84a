"""The pooled cost: what it remembers of a line search is what it would compute."""

import numpy as np
import pytest

from fedrepro.algorithms.parts.backtracking import armijo
from fedrepro.experiments.reference import Reference
from shed_federations import logistic


def test_predictions_at_the_end_of_a_line_search_are_those_of_the_point():
    problem = logistic()
    agents = problem.clients(Reference())
    x = problem.start
    for scale in (300.0, 1.0):
        g = agents.mean_gradient(x)
        p = scale * g
        x = x - armijo(agents, x, p, g, 0.3, 0.5) * p
        exact = problem.pooled.data.predict(x[None])
        np.testing.assert_allclose(problem.pooled.predictions(x), exact, atol=1e-13)
    elsewhere = x + 1.0
    exact = problem.pooled.data.predict(elsewhere[None])
    np.testing.assert_allclose(problem.pooled.predictions(elsewhere), exact, rtol=1e-13)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_the_slope_after_a_line_search_is_that_of_the_point(scale):
    """Whether the full step was taken, whose slope the search has found, or a shorter one."""
    problem = logistic()
    agents, x = problem.clients(Reference()), problem.start
    g = agents.mean_gradient(x)
    eta = armijo(agents, x, scale * g, g, 0.3, 0.5)
    assert (eta == 1.0) == (scale == 1.0)
    there = x - eta * scale * g
    fresh = logistic().clients(Reference())
    np.testing.assert_allclose(agents.mean_gradient(there), fresh.mean_gradient(there), atol=1e-14)
