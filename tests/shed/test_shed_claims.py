"""How what did not converge within its budget enters a verdict."""

import numpy as np
import pandas as pd
import pytest

from fedrepro.claims import FAILED, PARTLY, REPRODUCED, UNTESTED
from fedrepro.claims.shed import E12
from fedrepro.claims.shed_readings import Factor, across, all_of, factor, reach
from fedrepro.claims.shed_sharing import lyapunov


def cells(*gaps_by_seed):
    """Two exchanges and five Hessians (of five agents) an iteration."""
    rows = [
        {"seed": seed, "round": t, "exchanges": 2 * t, "hessians": 5 * t, "gap": gap}
        for seed, gaps in enumerate(gaps_by_seed)
        for t, gap in enumerate(gaps)
    ]
    return pd.DataFrame(rows)


QUICK = cells([1.0, 1e-11], [1.0, 1e-11], [1.0, 1e-11])
SLOW = cells([1.0] * 4 + [1e-10], [1.0] * 3 + [1e-12], [1.0] * 5 + [0.0])
NEVER = cells([1.0] * 7, [1.0] * 7, [1.0, 1e-11])


def test_reach_is_the_first_round_at_the_level():
    np.testing.assert_array_equal(reach(SLOW), [8, 6, 10])
    np.testing.assert_array_equal(reach(SLOW, "hessians"), [4, 3, 5])  # of each agent
    np.testing.assert_array_equal(reach(NEVER), [np.inf, np.inf, 2])


def test_a_method_that_does_not_converge_gives_a_bound():
    assert factor(SLOW, QUICK) == Factor(4.0)
    assert factor(NEVER, QUICK) == Factor(6.0, "at least")
    assert factor(QUICK, NEVER) == Factor(2 / 12, "at most")
    assert factor(cells([1.0, 0.5, 0.1]), cells([1.0, 0.05, 0.01])) == Factor(2.0, "", 0.1)  # neither
    assert factor(SLOW, QUICK[:0]) is None


@pytest.mark.parametrize(
    "bound, above_3, above_8, below_3, below_8",
    [
        ("", True, False, False, True),
        ("at least", True, None, False, None),
        ("at most", None, False, None, True),
    ],
)
def test_a_bound_decides_only_what_it_can(bound, above_3, above_8, below_3, below_8):
    five = Factor(5.0, bound)
    assert five.above(3) is above_3
    assert five.above(8) is above_8
    assert five.below(3) is below_3
    assert five.below(8) is below_8


def test_verdicts_over_readings():
    assert all_of(True, None) is None
    assert all_of(None, False) is False
    assert all_of(True, True) is True
    assert across({"a": True, "b": True})[0] == REPRODUCED
    assert across({"a": False})[0] == FAILED
    assert across({"a": None})[0] == UNTESTED
    verdict, why = across({"a": True, "b": False, "c": None})
    assert verdict == PARTLY
    assert "holds with a" in why and "Fails with b" in why and "Open within the budget with c" in why


def test_the_lyapunov_bound_by_hand():
    spectrum = np.array([4.0, 2.0, 1.0])
    # one pair a round: rho = 2, then 1 (the last eigenvalue); convex: 1 - 1/2, then 0
    assert lyapunov(spectrum, 1, convex=True) == pytest.approx(0.5)
    assert lyapunov(spectrum, 2, convex=True) == 0.0
    assert lyapunov(spectrum, 1, convex=False) == pytest.approx(1 - 1 / 1.5)


class OnlyHessians:
    """FedNL with thirty times Fib-SHED's Hessians, and twice as many on the digits."""

    def __init__(self, origin):
        self.origin = origin

    def origins(self, experiment):
        return {experiment: self.origin if "emnist" in experiment else "mirror"}

    def traces(self, experiment):
        times = 2 if "emnist" in experiment else 30
        rows = [
            cells([1.0] * n + [1e-11]).assign(algorithm=name)
            for name, n in (("fednl", times), ("fib_shed", 1))
        ]
        return pd.concat(rows).assign(mu=1e-5, centre="centred" in experiment, p_alpha="0.4", p_beta="0.5")


@pytest.mark.parametrize(
    "origin, verdict",
    [("publisher", PARTLY), ("mirror", PARTLY), ("relative", REPRODUCED), ("standin", REPRODUCED)],
)
def test_digits_decide_only_where_they_are_the_papers(origin, verdict):
    found = E12(OnlyHessians(origin))
    assert found.verdict == verdict
    assert ("emnist, μ = 1e-05" in found.held) == (verdict == PARTLY)
    assert "2x" in found.value + found.why
