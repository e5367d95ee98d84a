"""Fair play: amounts, places, winners, and what counts as never."""

import numpy as np
import pandas as pd
import pytest

from fedrepro import algorithms
from fedrepro.experiments.problem import get
from fedrepro.experiments.runner import run_cell
from fedrepro.papers.arena import readings
from fedrepro.papers.arena.contest import MEASURES, STOP, TARGETS, amount, factor, halton
from fedrepro.papers.arena.problems.composite import settled

CONSTANTS = {"L*": 4.0, "l*": 0.25, "L_F": 2.0, "l_F": 0.5}
SETTING = {
    "data": "bowls-1e1", "skew": True, "regularisation": 0.01, "clients": 3, "rows": 12, "columns": 5,
    "trips": 30, "gradients": 200, "runs": 4,
}  # fmt: skip


def test_amounts_are_scaled_by_constants():
    assert amount("0.5/L*", CONSTANTS) == 0.125
    assert amount("0.5*L*", CONSTANTS) == 2.0
    assert amount("1/sqrt(l*L*)", CONSTANTS) == 1.0
    assert amount("last", CONSTANTS) == "last" and amount(3, CONSTANTS) == 3
    assert factor("0.5*l_F") == 0.5 and factor("all") is None


def test_places_are_the_same_for_everybody_and_even():
    one, two = halton(8, 1), halton(8, 2)
    np.testing.assert_array_equal(one[:, 0], two[:, 0])
    assert one[0, 0] == 0.5
    assert np.all(np.bincount((two[:, 0] * 4).astype(int), minlength=4) == 2)
    assert np.all((two > 0) & (two < 1))


@pytest.fixture
def problem():
    made = get("arena.smooth")(SETTING, 0)
    return made, made.reference()


def test_everybody_gets_as_many_runs(problem, monkeypatch):
    made, ref = problem
    count = []
    score = made.score
    monkeypatch.setattr(made, "score", lambda *args: count.append(1) or score(*args))
    for name, params in (("fedgd", {"step": ["0.2/L*", "8/L*"]}),
                         ("scaffold", {"step": ["0.1/L*", "1/L*"], "local_steps": [2, 9]})):  # fmt: skip
        count.clear()
        chosen = made.choose(algorithms.get(name), params, ref)
        assert len(count) == SETTING["runs"]
        assert ref.constants["L*"] * chosen["step"] < 8.1
    assert isinstance(chosen["local_steps"], int)
    assert made.choose(algorithms.get("giant"), {}, ref) == {}


def test_a_run_ends_with_the_horizon_or_at_the_last_target(problem):
    made, ref = problem
    slow, _ = run_cell(algorithms.get("fedgd"), made, ref, {"step": "0.1/L*"}, STOP, MEASURES)
    assert (
        slow.columns["trips"][-1] == SETTING["trips"]
        and slow.columns["gap"][-1] > TARGETS[-1] * slow.columns["gap"][0]
    )
    quick, _ = run_cell(algorithms.get("nesterov"), made, ref, {}, STOP, MEASURES)
    assert quick.columns["gap"][-1] <= TARGETS[-1] * quick.columns["gap"][0] < quick.columns["gap"][-2]


def test_a_winner_must_not_rise_past_the_horizon(problem, monkeypatch):
    """Two candidates: the one that is lower at the horizon climbs after it."""
    made, ref = problem

    def run(function, params, reference, stretch):
        share = np.linspace(0, stretch, 41)
        gap = 1.0 - 0.4 * share if params["who"] == "steady" else np.where(share <= 1, 1 - 0.9 * share, share)
        return {
            "gap": gap,
            "left": stretch - share,
            "trips": share * SETTING["trips"],
            "equivalents": 0 * share,
        }, "done"

    monkeypatch.setattr(made, "run", run)
    assert made.winner(None, [{"who": "steady"}, {"who": "turning"}], ref) == {"who": "steady"}


def test_hessians_and_proximal_steps_are_paid_for(problem):
    made, ref = problem
    clients = made.clients(ref)
    clients.hessians(clients.start)
    assert made.equivalents(clients.ledger) == 0.5 * SETTING["columns"]
    clients.prox(clients.stack(clients.start), 1.0)
    assert made.equivalents(clients.ledger) == SETTING["columns"]


# --- readings ---


def cell(algorithm, gaps, status="done", setting="a", seed=0):
    n = len(gaps)
    return pd.DataFrame({
        "experiment": "arena_smooth", "setting": setting, "algorithm": algorithm, "seed": seed, "gap": gaps, "status": status,
        "exchanges": range(n), "trips": np.arange(n) * 2.0, "equivalents": np.arange(n) * 3.0, "seconds": np.arange(n) * 0.1,
    })  # fmt: skip


ROWS = pd.concat([
    cell("fast", [1.0, 1e-5, 1e-9]), cell("slow", [1.0, 0.1, 0.01, 1e-3, 1e-5]), cell("lost", [1.0, 1e-9, 1e30], "diverged"),
    cell("fast", [1.0, 0.1, 0.1], setting="b"), cell("slow", [1.0, 1e-6], setting="b"),
])  # fmt: skip


def test_costs_to_a_target_and_divergence_is_never():
    table = readings.costs(ROWS)
    found = readings.matrix(table, "trips", readings.ROUGH)
    assert found.loc[("smooth a", 0)].to_dict() == {"fast": 2.0, "lost": np.inf, "slow": 8.0}
    assert found.loc[("smooth b", 0)].to_dict() == {"fast": np.inf, "lost": np.inf, "slow": 2.0}
    fine = readings.matrix(table, "exchanges", readings.FINE)
    assert fine["fast"].tolist() == [2.0, np.inf] and np.isinf(fine["slow"]).all()


def test_profiles_are_dolan_and_mores():
    ratio = readings.ratios(readings.matrix(readings.costs(ROWS), "trips", readings.ROUGH))
    levels = np.array([1.0, 3.9, 4.0, 100.0])
    np.testing.assert_array_equal(readings.profile(ratio["fast"].to_numpy(), levels), [0.5, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(readings.profile(ratio["slow"].to_numpy(), levels), [0.5, 0.5, 1.0, 1.0])
    np.testing.assert_array_equal(readings.profile(ratio["lost"].to_numpy(), levels), 0.0)


def test_the_price_of_a_network_decides_who_is_first():
    """`talker` needs few floats in many exchanges, `sender` many floats in one."""
    counts = readings.Counts(
        ["sender", "talker"], np.array([[1.0, 100.0]]), np.array([[1e6, 10.0]]), np.array([[0.0, 0.0]])
    )
    assert counts.favourite(latency=10.0, bandwidth=1e9) == ("sender", 1.0)
    assert counts.favourite(latency=1e-4, bandwidth=1e3) == ("talker", 1.0)
    assert counts.times(1.0, 8.0).tolist() == [[1.0 + 1e6, 110.0]]


def test_the_composite_optimum_is_certified():
    """LASSO with orthogonal columns has a closed form: soft thresholding."""
    from fedrepro.maths.proxes import L1

    c = np.array([3.0, -0.5, 0.05])
    np.testing.assert_allclose(
        settled(lambda w: w - c, L1(0.1), 0.7, np.zeros(3)), [2.9, -0.4, 0.0], atol=1e-12
    )
