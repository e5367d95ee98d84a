"""The minimiser of the sum and the constants there."""

import numpy as np
import pytest

from federations import data, least_squares, linear_model
from fedrepro.maths import newton, optimum
from fedrepro.maths.costs import Quadratics


@pytest.mark.parametrize("costs", [least_squares, linear_model, lambda: linear_model(columns=3)])
def test_the_minimiser_is_stationary_to_1e_12(costs):
    costs = costs()
    start = costs.gradient(np.zeros((costs.m, *costs.shape))).sum(axis=0)
    found = optimum.certificate(costs, optimum.minimiser(costs))
    assert found["residual"] <= 1e-12 * max(np.linalg.norm(start), 1.0)


def test_the_minimiser_of_a_singular_problem_is_the_least_norm_solution():
    A, b, _ = data(sizes=(2, 1), d=6)
    costs = Quadratics.least_squares(A, b)
    expected = np.linalg.lstsq(np.vstack(A), np.concatenate(b), rcond=None)[0]
    np.testing.assert_allclose(optimum.minimiser(costs), expected, atol=1e-10)


def test_newton_says_when_it_does_not_arrive(monkeypatch):
    monkeypatch.setattr(newton, "STEPS", 1)
    with pytest.raises(ArithmeticError, match="the reference optimum did not converge in 1"):
        optimum.minimum_by_newton(linear_model())


@pytest.mark.parametrize("costs", [least_squares, linear_model])
def test_constants_bracket_every_client_and_the_mean(costs):
    costs = costs()
    x = optimum.minimiser(costs)
    found = optimum.constants(costs, x)
    H = costs.hessian(optimum.shared(costs, x))
    mean, each = np.linalg.eigvalsh(H.mean(axis=0)), np.linalg.eigvalsh(H)
    assert found["l*"] <= each.min() * (1 + 1e-12) and each.max() <= found["L*"] * (1 + 1e-12)
    assert found["l_F"] == pytest.approx(mean[0]) and mean[-1] <= found["L_F"] * (1 + 1e-12)
    assert found["l*"] <= found["l_F"] * (1 + 1e-12) and found["L_F"] <= found["L*"] * (1 + 1e-12)
