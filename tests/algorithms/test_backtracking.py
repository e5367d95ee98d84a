"""Armijo's rule among agents."""

import numpy as np
import pytest

from fedrepro.algorithms.parts.backtracking import armijo
from fedrepro.experiments.reference import Reference
from shed_federations import logistic


def test_armijo_takes_the_first_step_that_satisfies_it():
    problem = logistic()
    agents = problem.clients(Reference())
    x = problem.start
    g = agents.mean_gradient(x)
    f = lambda x: float(problem.pooled.value(x[None])[0])  # noqa: E731
    for scale in (0.1, 10.0, 300.0):
        p = scale * g
        before = agents.ledger.exchanges
        eta = armijo(agents, x, p, g, 0.3, 0.5)
        assert agents.ledger.exchanges == before + 1
        assert f(x - eta * p) <= f(x) - 0.3 * eta * (p @ g)
        if eta < 1:
            assert f(x - 2 * eta * p) > f(x) - 0.3 * 2 * eta * (p @ g)
    assert armijo(agents, x, -g, g, 0.3, 0.5, candidates=4) == 0.125  # an ascent direction: none does


def test_confidently_wrong_predictions_do_not_break_the_line_search():
    """Where σ rounds to one the Bregman term must still be finite and the Armijo test fair."""
    problem = logistic()
    x = np.full(8, 60.0)
    agents = problem.clients(Reference())
    g = agents.mean_gradient(x)
    f = lambda x: float(problem.pooled.value(x[None])[0])  # noqa: E731
    for eta in (1.0, 100.0, 1e4):
        assert agents.decrease(x, g, g, 20)(eta) == pytest.approx(f(x) - f(x - eta * g), rel=1e-9)
