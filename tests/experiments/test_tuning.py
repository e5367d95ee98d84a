"""The grid search: equal budgets, the decay rule, and that it finds what is there to find."""

import numpy as np
import pytest

from fedrepro.experiments import tuning


def geometric(best):
    """Runs whose rate is best at known parameters."""
    tried = []

    def gaps(columns, rounds, exactly):
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

    def counting(columns, rounds, exactly):
        distinct.update(zip(*(np.round(np.log10(c), 5) for c in columns.values()), strict=True))
        return gaps(columns, rounds, exactly)

    ranges = {f"p{i}": [1e-4, 10.0] for i in range(dimensions)}
    winner = tuning.search(counting, ranges, tuning.Budget(500, 40))
    assert len(distinct) <= 500
    np.testing.assert_allclose(np.log10(list(winner.values())), np.log10(best), atol=0.35)


def test_winners_stay_within_the_range():
    gaps, _ = geometric(np.array([50.0]))
    assert tuning.search(gaps, {"step": [1e-4, 1.0]}, tuning.Budget(100, 20)) == {"step": 1.0}


def late_riser(step):
    """Rates that grow with the step; above 0.1 a small part of every run grows instead, and shows after the horizon."""

    def gaps(columns, rounds, exactly):
        k, rate = np.arange(rounds + 1)[:, None], 0.05 * columns["step"] / step
        growing = np.where(columns["step"] > step, 1e-9 * 1.05**k, 0.0)
        return np.exp(-rate * k) + growing

    return gaps


def test_a_winner_goes_on_falling_for_ten_times_the_horizon():
    gaps, ranges = late_riser(0.1), {"step": [1e-4, 1.0]}
    by_decay = tuning.search(gaps, ranges, tuning.Budget(200, 60))["step"]
    by_final_gap = tuning.search(gaps, ranges, tuning.Budget(200, 60, "final"))["step"]
    assert 0.09 < by_decay <= 0.1 < by_final_gap
    columns = {"step": np.array([by_decay, by_final_gap])}
    assert tuning.lasting(gaps(columns, 600, True), 60).tolist() == [True, False]


def test_what_the_model_misjudges_is_found_out_exactly():
    """On the model the largest step is best; in truth whatever is above 0.2 diverges."""

    def gaps(columns, rounds, exactly):
        k = np.arange(rounds + 1)[:, None]
        rate = np.where(exactly & (columns["step"] > 0.2), -0.5, 0.05 * columns["step"])
        return np.exp(-rate * k)

    winner = tuning.search(gaps, {"step": [1e-4, 1.0]}, tuning.Budget(200, 60))["step"]
    assert 0.15 < winner <= 0.2


def test_a_run_has_lasted_if_every_stretch_is_lower_or_it_has_arrived():
    k = np.arange(101.0)
    falls, arrives = 10.0 ** (-0.02 * k), 10.0 ** -np.minimum(k, 13) * (1 + 0.1 * (k % 2))
    turns = falls + 1e-4 * (k > 50)
    turns[90] = 2.0
    assert tuning.lasting(np.stack([falls, arrives, turns], axis=1), 10).tolist() == [True, True, False]


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
