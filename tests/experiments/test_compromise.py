"""Competing aims: the front and the choice on it."""

import numpy as np
import pytest

from fedrepro.experiments import compromise


def test_the_front_leaves_out_what_is_dominated():
    costs = np.array([[1, 4], [2, 2], [4, 1], [3, 3], [2, 2], [np.nan, 0]])
    assert compromise.pareto_front(costs).tolist() == [0, 1, 2, 4]


def test_the_grade_is_the_mean_closeness_to_the_ideal_point():
    grades = compromise.relational_grade(np.array([[0.0, 10.0], [1.0, 0.0], [0.5, 5.0]]))
    assert np.allclose(grades, [(1 + 1 / 2) / 2, (1 / 2 + 1) / 2, (1 / 1.5 + 1 / 1.5) / 2])


def test_the_choice_is_on_the_front_and_ignores_scale():
    costs = np.array([[0.0, 9.0, 3.0], [1.0, 1.0, 1.0], [9.0, 0.0, 3.0], [9.0, 9.0, 9.0]])
    assert compromise.best_compromise(costs) == 1
    assert compromise.best_compromise(costs * [1e-6, 1e6, 1] + [3, -5, 0]) == 1
    assert compromise.best_compromise(np.array([[2.0, np.nan], [3.0, 3.0]])) == 1


def test_equal_rows_and_hopeless_ones():
    assert compromise.best_compromise(np.ones((3, 2))) == 0
    with pytest.raises(ValueError, match="not finite"):
        compromise.best_compromise(np.full((2, 2), np.inf))
