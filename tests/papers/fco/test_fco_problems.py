"""The synthetic problems: their optimum, the penalty's band, and the reproducibility of a cell."""

import numpy as np
import pytest

from fedrepro import algorithms
from fedrepro.datasets import Dataset
from fedrepro.experiments.experiment import Stop
from fedrepro.experiments.runner import run_cell
from fedrepro.maths.proxes import L1
from fedrepro.papers.fco.centralised import GatheredSquares
from fedrepro.papers.fco.problems import recovery as fco
from fedrepro.papers.fco.problems.characters import Characters
from fedrepro.papers.fco.problems.networks import Networks

SETTING = {
    "d": 24, "ones": 6, "m": 8, "n": 40, "cohort": 3, "batch": 5, "epochs": 1, "loss": "squared", "start": "glorot",
    "validation_clients": 8, "band": 0.01, "place": 0.5, "lambda_points": 14, "lambda_decades": 2.5,
}  # fmt: skip


def test_the_centralised_solution_is_optimal():
    """Zero is in the subdifferential: |∇| ≤ λ where w = 0 and ∇ = −λ sign(w) elsewhere; and the intercept's
    slope vanishes."""
    problem = fco.lasso(SETTING, 0)
    ref = problem.reference()
    w = ref.optimum[:-1]
    g = problem.gathered.gradient(w)
    held = w == 0
    assert held.any() and (~held).any()
    assert np.all(np.abs(g[held]) <= ref.constants["lambda"] * (1 + 1e-6))
    np.testing.assert_allclose(g[~held], -ref.constants["lambda"] * np.sign(w[~held]), atol=1e-6)
    full = problem.costs.gradient(ref.optimum, slice(None))
    assert full[-1] == pytest.approx(0, abs=1e-4)  # the examples are in single precision


def test_gathered_moments_give_the_loss_of_the_examples():
    rng = np.random.default_rng(0)
    X, y, p = rng.standard_normal((50, 7)), rng.standard_normal(50), rng.standard_normal(8)
    assert GatheredSquares(X, y, 0.5).value(p) == pytest.approx(0.5 * np.mean((X @ p[:-1] + p[-1] - y) ** 2))


def test_the_band_holds_the_penalties_that_recover_the_pattern():
    problem = fco.lasso(SETTING, 1)
    ref = problem.reference()
    facts, strength = ref.facts, ref.constants["lambda"]
    assert facts["lambda_low"] <= strength <= facts["lambda_high"]
    assert facts["recovery"] >= facts["best_score"] - 0.01
    outside = problem.gathered.minimise(L1(10 * facts["lambda_high"]))
    assert problem.score(outside) < facts["best_score"] - 0.01


def test_a_wider_band_holds_a_narrower_one_and_its_ends_are_places():
    narrow, wide = (fco.lasso(SETTING | {"band": width}, 1).reference().facts for width in (0.0, 0.1))
    assert wide["lambda_low"] <= narrow["lambda_low"] <= narrow["lambda_high"] <= wide["lambda_high"]
    assert wide["lambda_low"] < wide["lambda_high"]
    ends = [
        fco.lasso(SETTING | {"band": 0.1, "place": at}, 1).reference().constants["lambda"] for at in (0, 1)
    ]
    np.testing.assert_allclose(ends, [wide["lambda_low"], wide["lambda_high"]])


def test_low_rank_optimum_has_the_true_rank():
    setting = {k: v for k, v in SETTING.items() if k not in ("d", "ones")} | {
        "side": 5,
        "true_rank": 2,
        "n": 80,
    }
    ref = fco.low_rank(setting, 0).reference()
    assert ref.facts["rank"] == ref.facts["true_rank"] == 2


@pytest.mark.parametrize("name", ["feddualavg", "fedmid_osp"])
def test_a_cell_is_bit_identical_whatever_ran_before_it(name):
    def trace(problem):
        ref = problem.reference()
        found, _ = run_cell(
            algorithms.get(name),
            problem,
            ref,
            {"client_rate": 0.003, "server_rate": 1.0},
            Stop(6),
            ("error", "f1"),
        )
        return found.columns["error"]

    fresh = trace(fco.lasso(SETTING, 3))
    used = fco.lasso(SETTING, 3)
    run_cell(algorithms.get("fedavg"), used, used.reference(), {"client_rate": 0.01}, Stop(9), ("error",))
    assert trace(used) == fresh


def test_every_measures_on_those_rounds_and_on_the_last():
    problem = fco.lasso(SETTING, 0)
    found, status = run_cell(
        algorithms.get("fedmid"),
        problem,
        problem.reference(),
        {"client_rate": 0.003},
        Stop(7, every=3),
        ("error",),
    )
    assert found.columns["round"] == [0, 3, 6, 7] and status == "done"


def test_a_diverging_cell_is_stopped_and_its_trace_kept():
    problem = fco.lasso(SETTING, 0)
    found, status = run_cell(
        algorithms.get("feddualavg"),
        problem,
        problem.reference(),
        {"client_rate": 1.0, "server_rate": 1.0},
        Stop(500),
        ("error", "f1"),
    )
    assert status == "diverged" and found.columns["round"][-1] < 20


@pytest.mark.parametrize("algorithm", ["feddualavg", "fedmid", "fedmid_osp"])
def test_a_network_takes_the_steps_of_its_plain_twin(algorithm):
    rng = np.random.default_rng(0)
    X = (255 * rng.random((60, 30)) * (rng.random((60, 30)) < 0.3)).astype(np.uint8)
    split = np.repeat([0, 1], [50, 10])
    dataset = Dataset("made", "made", X, rng.integers(0, 3, 60), None, split, "mirror", "-")
    setting = {
        "cohort": 2, "batch": 4, "epochs": 2, "share": 1.0, "relative_share": 1.0, "precision": "float64", "hidden": [6, 5],
        "ball": "l1", "radius": (4.0, 1.0), "start": "glorot",
    }  # fmt: skip
    ends = []
    for kind in (Characters, Networks):
        made = kind(dataset, np.split(np.arange(50), [12, 30]), setting, 0)
        clients = made.clients(made.reference())
        run = algorithms.get(algorithm)(clients, client_rate=0.1, server_rate=1.0)
        ends.append(next(w for round, w in enumerate(run) if round == 3))
        assert clients.model is made.costs
    assert np.abs(ends[0] - made.start).max() > 0.01
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-10, atol=1e-12)
