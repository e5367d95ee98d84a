"""Stepsize rules."""

import numpy as np
import pytest

from fedrepro.maths.steps import parse, stepsize


@pytest.mark.parametrize(
    "rule, expected",
    [(0.25, 0.25), ("1/L*", 1 / 9), ("2/(l*+L*)", 0.2), ("1/sqrt(l*L*)", 1 / 3), ("0.5/L_F", 0.1), ("2e0/(l_F+L_F)", 0.25)],
)  # fmt: skip
def test_stepsize_rules(rule, expected):
    assert stepsize(rule, {"l*": 1.0, "L*": 9.0, "l_F": 3.0, "L_F": 5.0}) == pytest.approx(expected)


@pytest.mark.parametrize("rule", ["1/K*", "fast", "L*", None, True])
def test_a_wrong_stepsize_rule_is_refused(rule):
    with pytest.raises(ValueError, match="neither a number nor"):
        parse(rule)


def test_a_stepsize_without_strong_convexity_says_so():
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=r"l\* = 0"):
        stepsize("1/sqrt(l*L*)", {"l*": np.float64(0.0), "L*": 2.0})
