"""How long things take, and how what did not converge within its budget enters the evidence."""

import numpy as np
import pandas as pd
import pytest

from fedrepro.papers.shed.claims.images import spread
from fedrepro.papers.shed.claims.measured import COMMON, compared
from fedrepro.papers.shed.readings import Ratio, fastest, one_triangle, periods, ratios, reach
from fedrepro.papers.shed.theory import lyapunov


def cells(*gaps_by_seed, **labels):
    """Two exchanges and five Hessians (of five agents) an iteration."""
    rows = [
        {"seed": seed, "round": t, "exchanges": 2 * t, "hessians": 5 * t, "gap": gap, "params": ""} | labels
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


def test_a_method_that_does_not_converge_gives_a_bound_in_that_seed():
    assert ratios(SLOW, QUICK) == [Ratio(0, 4.0), Ratio(1, 3.0), Ratio(2, 5.0)]
    assert ratios(NEVER, QUICK) == [Ratio(0, 6.0, "at least"), Ratio(1, 6.0, "at least"), Ratio(2, 1.0)]
    assert ratios(QUICK, NEVER)[0] == Ratio(0, 2 / 12, "at most")
    assert ratios(SLOW, QUICK[QUICK.seed == 1]) == [Ratio(1, 3.0)]


def test_two_that_do_not_converge_are_compared_at_the_cost_both_come_down_to():
    assert ratios(cells([1.0, 0.5, 0.1]), cells([1.0, 0.05, 0.01])) == [Ratio(0, 2.0, level=0.1)]


def test_a_bound_comes_with_the_ratio_at_a_cost_that_both_reach():
    slow, quick = (
        rows.assign(data_origin="mirror") for rows in (cells([1.0, 0.5, 0.2, 0.1]), cells([1.0, 0.1, 1e-11]))
    )
    found = [(r.value, r.censored, r.reading["to"]) for r in compared(slow, quick, part="rounds")]
    assert found == [(1.5, "at least", "convergence"), (3.0, "", COMMON)]
    found = [(r.value, r.censored, r.reading["to"]) for r in compared(quick, quick, part="rounds")]
    assert found == [(1.0, "", "convergence")]
    found = [r.reading["to"] for r in compared(slow, slow, part="rounds")]
    assert found == [COMMON]


def test_gn_shed_is_taken_with_the_constant_that_brings_it_closest():
    converged = [1.0] * 5 + [1e-11]
    assert spread([cells(converged), cells([1.0] * 9 + [1e-11])]) == (9 / 5, False)
    assert spread([cells(converged), cells([1.0] * 21)]) == (4.0, True)


def test_the_fastest_grid_point_is_chosen_seed_by_seed():
    grid = pd.concat([cells([1.0, 1e-11], [1.0] * 4, params="a"), cells([1.0] * 4, [1.0, 1e-11], params="b")])
    chosen = fastest(grid)
    assert chosen.groupby("seed").params.first().tolist() == ["a", "b"]


def test_one_triangle_of_the_first_hessian_counts_half_of_its_vectors():
    n = 9
    sent = pd.DataFrame({"seed": 0, "round": [0, 1, 2], "vectors": [0.0, n + 2, n + 4]})
    np.testing.assert_array_equal(one_triangle(sent).vectors, [0, (n + 1) / 2 + 2, (n + 1) / 2 + 4])


def test_whole_periods_give_the_factor_per_iteration():
    rows = pd.DataFrame({"round": range(13), "distance": 0.5 ** np.arange(13.0), "p_period": "5"})
    assert periods(rows) == pytest.approx([0.5])
    assert periods(rows, near=0.5**4) == pytest.approx([0.5])
    assert periods(rows, near=0.5**5) == []  # the period begins too far from the optimum


def test_the_lyapunov_bound_by_hand():
    spectrum = np.array([4.0, 2.0, 1.0])
    # one pair a round: rho = 2, then 1 (the last eigenvalue); convex: 1 - 1/2, then 0
    assert lyapunov(spectrum, 1, convex=True) == pytest.approx(0.5)
    assert lyapunov(spectrum, 2, convex=True) == 0.0
    assert lyapunov(spectrum, 1, convex=False) == pytest.approx(1 - 1 / 1.5)
