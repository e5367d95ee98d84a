"""Agents and their channel."""

import numpy as np
import pytest

from fedrepro.experiments.reference import Reference
from shed_federations import logistic


def test_the_channel_has_the_law_of_eq_38():
    agents = logistic().clients(Reference())
    draws = np.concatenate([agents.increments("channel") for _ in range(5000)])
    gamma = -np.log1p(-(np.arange(200_000) + 0.5) / 200_000)  # quantiles of Exp(1)
    expected = np.floor(2 * np.log2(1 + 5 * gamma))
    assert draws.min() == 0
    assert draws.mean() == pytest.approx(expected.mean(), abs=0.05)
    assert expected.mean() < 4  # the text says 4 on average, and at most 10
    np.testing.assert_array_equal(agents.increments(3), [3, 3, 3, 3])


def test_they_average_by_their_shares():
    """So that gradient descent written for equal clients minimises Σ_i p_i f_i here."""
    agents = logistic().clients(Reference())
    x = np.linspace(-1.0, 1.0, agents.n)
    np.testing.assert_allclose(agents.average(agents.gradients(x)), agents.mean_gradient(x), atol=1e-14)
