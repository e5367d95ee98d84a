"""The grid search: equal budgets, the decay rule, and that it finds what is there to find."""

import numpy as np
import pytest

from fedrepro import tuning
from fedrepro.algorithms.fedgd import fedgd
from fedrepro.algorithms.fedhybrid import fedhybrid
from fedrepro.problems import fedhybrid as problems

SETTING = {"n": 6, "d": 4, "sigma": 0.5, "rho": 0.1, "points": 150, "horizon": 40}


def geometric(best):
    """Runs whose rate is best at known parameters."""
    tried = []

    def gaps(columns, rounds):
        values = np.log10(np.array(list(columns.values())))
        tried.append(values.shape[1])
        rate = 0.9 * np.exp(-np.sum((values - np.log10(best)[:, None]) ** 2, axis=0))
        return np.exp(-np.outer(np.arange(rounds + 1), rate))

    return gaps, tried


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_search_finds_the_best_point_within_its_budget(dimensions):
    best = np.array([0.02, 0.3, 1.5, 0.004])[:dimensions]
    gaps, _ = geometric(best)
    distinct = set()

    def counting(columns, rounds):
        distinct.update(zip(*(np.round(np.log10(c), 9) for c in columns.values()), strict=True))
        return gaps(columns, rounds)

    ranges = {f"p{i}": [1e-4, 10.0] for i in range(dimensions)}
    winner = tuning.search(counting, ranges, tuning.Budget(500, 40))
    assert len(distinct) <= 500
    np.testing.assert_allclose(np.log10(list(winner.values())), np.log10(best), atol=0.35)


def test_winners_stay_within_the_range():
    gaps, _ = geometric(np.array([50.0]))
    assert tuning.search(gaps, {"step": [1e-4, 1.0]}, tuning.Budget(100, 20)) == {"step": 1.0}


def test_a_run_that_turns_up_at_the_end_is_no_winner_by_decay_but_is_by_its_final_gap():
    k = np.arange(101.0)
    steady = 10.0 ** (-0.03 * k)
    swing = 10.0 ** (-0.1 * k) + 1e-6 * 10.0 ** (0.02 * (k - 50))  # lower at 100, but growing
    gaps = np.stack([steady, swing], axis=1)
    assert swing[-1] < steady[-1]
    assert np.argmax(tuning.final(gaps)) == 1
    score = tuning.decay(gaps)
    assert np.argmax(score) == 0
    assert score[0] == pytest.approx(0.03 * 76 / 100, rel=0.02)
    assert score[1] == -np.inf


def test_runs_that_arrive_are_ranked_by_when():
    k = np.arange(41.0)
    gaps = np.stack([10.0 ** -np.minimum(k, 13), 10.0 ** -np.minimum(2 * k, 13)], axis=1)
    score = tuning.decay(gaps)
    assert score[1] == pytest.approx(2.0) and score[0] == pytest.approx(1.0)


def test_diverging_and_broken_runs_score_minus_infinity():
    gaps = np.ones((21, 2))
    gaps[10:, 0] = np.nan
    gaps[:, 1] = 2.0 ** np.arange(21)
    assert np.all(tuning.decay(gaps) == -np.inf)


def test_tuned_fedavg_has_the_optimal_stepsize_and_a_mixed_method_every_parameter():
    problem = problems.synthetic_least_squares(SETTING, 0)
    ref = problem.reference()
    step = problem.choose(fedgd, {"step": [1e-4, 1]}, ref)["step"]
    ideal = 2.0 / (ref["l_F"] + ref["L_F"])  # of the averaged objective
    assert 0.7 * ideal < step < 2.0 / ref["L_F"] or step == 1.0
    ranges = {"mu": [1e-4, 10], "a": [1e-4, 1], "b": "like a", "newton_b": [1e-4, 1]}
    chosen = problem.choose(fedhybrid, {"newton": "half"} | ranges, ref)
    assert all(isinstance(chosen[name], float) for name in ranges)
    run = fedhybrid(problem.clients(ref), **chosen)
    gaps = [problem.costs.gap(next(run), ref["x"]) for _ in range(40)]
    assert gaps[-1] < 0.5 * problem.costs.gap(problem.start, ref["x"])


def test_nothing_to_tune_leaves_the_parameters_alone():
    problem = problems.synthetic_least_squares(SETTING, 0)
    assert problem.choose(fedgd, {"step": 0.5}, {}) == {"step": 0.5}
