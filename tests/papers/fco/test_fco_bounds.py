"""The small problems of the theorems: their constants, the sequences that are watched, and the bounds themselves."""

import numpy as np
import pytest

from fedrepro import algorithms
from fedrepro.papers.fco import theory
from fedrepro.papers.fco.problems.bounds import Watched, bounds

SETTING = {
    "loss": "quadratic", "m": 4, "n": 12, "d": 6, "lambda": 0.1, "heterogeneity": 0.5, "start": "zero", "batch": 0, "steps": 3,
    "horizon": 50,
}  # fmt: skip


def run(name, problem, rounds, **rates):
    clients = problem.clients(problem.reference())
    generator = algorithms.get(name)(clients, **rates)
    return clients, [next(generator) for _ in range(rounds)]


@pytest.mark.parametrize("loss", ["logistic", "quadratic"])
def test_gradients_are_those_of_the_value(loss):
    model = bounds(SETTING | {"loss": loss}, 0).costs
    w, e = np.random.default_rng(0).standard_normal(model.size), 1e-6
    slopes = [(model.value(w + e * i) - model.value(w - e * i)) / (2 * e) for i in np.eye(model.size)]
    np.testing.assert_allclose(model.gradient(w), slopes, atol=1e-7)
    rows = np.arange(4 * 12).reshape(4, 12)
    each = model.gradients(np.repeat(w[:, None], 4, axis=1), rows)
    np.testing.assert_allclose(each.mean(axis=1), model.gradient(w), atol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "quadratic"])
def test_no_gradient_breaks_the_constants(loss):
    """Variance, smoothness and (where it is finite) the bound on a gradient, at random points."""
    model, rng = bounds(SETTING | {"loss": loss}, 0).costs, np.random.default_rng(1)
    for _ in range(20):
        points = np.repeat(3 * rng.standard_normal((model.size, 1)), 4, axis=1)
        whole = model.gradients(points, np.arange(48).reshape(4, 12))
        each = np.stack([model.gradients(points, np.arange(48).reshape(4, 12)[:, [i]]) for i in range(12)])
        spread = np.mean([model.dual_norm2(g - whole) for g in each], axis=0)
        assert spread.max() <= model.variance * (1 + 1e-9)
        assert model.dual_norm2(each[0]).max() <= model.G**2 * (1 + 1e-9)
        assert model.dual_norm2(whole - whole.mean(axis=1, keepdims=True)).max() <= model.zeta2 * (1 + 1e-9)


def test_the_shadow_of_feddualavg_pools_the_gradients():
    """Eq. (4.5): with a server rate of one the mean of the dual states is what the server holds after the round."""
    problem = bounds(SETTING, 0)
    clients, points = run("feddualavg", problem, 1, client_rate=0.05, server_rate=1.0)
    model = clients.model
    last = points[-1]
    assert model.steps == 3 and model.rounds == 1
    fewer = bounds(SETTING | {"steps": 2}, 0)
    before, _ = run("feddualavg", fewer, 1, client_rate=0.05, server_rate=1.0)
    np.testing.assert_allclose(model.shadow - before.model.shadow, last, atol=1e-12)  # ŵ_{0,3}


def test_fedmid_as_printed_solves_twice_the_penalty_and_once_regularised_the_problem():
    """With one local step, everybody present and full gradients."""
    problem = bounds(SETTING | {"steps": 1, "heterogeneity": 0.0}, 0)
    ref = problem.reference()
    best = ref.constants["value"]
    ends = {
        name: problem.objective(run(name, problem, 4000, client_rate=0.05, server_rate=1.0)[1][-1]) - best
        for name in ("fedmid", "fedmid_once", "fedmid_osp")
    }
    assert ends["fedmid"] == pytest.approx(ref.facts["twice"], rel=1e-6) and ends["fedmid"] > 1e-3
    assert ends["fedmid_once"] == pytest.approx(0, abs=1e-9) == ends["fedmid_osp"]


def test_means_of_what_was_watched():
    problem = bounds(SETTING, 0)
    clients, points = run("fedmid", problem, 5, client_rate=0.05, server_rate=1.0)
    np.testing.assert_allclose(clients.model.mean_of_server(points[-1]), np.mean(points, axis=0), atol=1e-12)
    fresh = Watched(problem.costs)
    np.testing.assert_array_equal(fresh.mean_of_shadow(problem.start), problem.start)


@pytest.mark.parametrize("batch", [0, 3])
def test_rates_are_those_the_theorems_allow(batch):
    problem = bounds(SETTING | {"batch": batch}, 0)
    ref = problem.reference()
    c = ref.constants
    assert (c["sigma2"] == 0) == (batch == 0)
    small = problem.choose(None, {"client_rate": 0.1, "server_rate": "small"}, ref)
    assert small["client_rate"] * small["server_rate"] == pytest.approx(theory.small_rate(c, 50))
    assert theory.small_rate(c, 50) <= 1 / (4 * c["K"] * c["L"]) * (1 + 1e-12)
    chosen = problem.choose(None, {"client_rate": "theorem", "server_rate": 1.0}, ref)["client_rate"]
    assert 0 < chosen <= theory.largest_rate(c)
    R = 50
    terms = 4 * c["L"] * c["B"] / (c["K"] * R) + 2 * np.sqrt(c["sigma2"] * c["B"] / (c["M"] * c["K"] * R))
    terms += 8 * (c["L"] * c["B"] ** 2 * c["sigma2"] / (c["K"] * R**2)) ** (1 / 3)
    terms += 15 * (c["L"] * c["B"] ** 2 * c["zeta2"] / R**2) ** (1 / 3)
    assert theory.quadratic_bound(c, chosen, R) <= terms * (1 + 1e-9)  # the second line of Theorem E.1
