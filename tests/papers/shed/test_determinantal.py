"""Determinantal averaging beside what it says by hand."""

import numpy as np
import pytest

from fedrepro.algorithms.determinantal import determinantal, direction
from fedrepro.algorithms.giant import giant
from shed_federations import iterates, logistic


def test_a_direction_comes_with_its_determinant():
    H, g = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
    p, size = direction(H, g)
    np.testing.assert_allclose(H @ p, g)
    assert size == pytest.approx(np.log(11.0))


def test_the_first_step_is_the_average_with_determinants_as_weights():
    problem = logistic()
    _, (x,) = iterates(determinantal, problem, 1)
    H = problem.costs.hessian(np.zeros((4, 8)))
    g = problem.pooled.slope(np.zeros(8))
    weights = problem.weights * np.linalg.det(H)
    p = weights @ np.linalg.solve(H, np.broadcast_to(g, (4, 8))[..., None])[..., 0] / weights.sum()
    step = (x @ p) / -(p @ p)
    np.testing.assert_allclose(x, -step * p, rtol=1e-9)
    assert np.log2(step) == pytest.approx(round(np.log2(step)), abs=1e-9)  # of a line search that halves


def test_it_speaks_as_often_as_giant_and_sends_one_scalar_more():
    one, _ = iterates(determinantal, logistic(), 3)
    other, _ = iterates(giant, logistic(), 3)
    assert one.ledger.exchanges == other.ledger.exchanges
    assert one.ledger.vectors == other.ledger.vectors
    assert one.ledger.floats_up == other.ledger.floats_up + 3 * one.m
