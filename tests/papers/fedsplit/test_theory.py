"""The propositions and theorems of Pathak & Wainwright 2020 on small problems."""

import itertools

import numpy as np
import pytest

from federations import federation, linear_model, quadratic_problem
from fedrepro import algorithms
from fedrepro.algorithms.fedgd import fedgd
from fedrepro.algorithms.fedprox import fedprox
from fedrepro.algorithms.fedsplit import fedsplit
from fedrepro.experiments import problem as problems
from fedrepro.maths.optimum import minimiser


def last(rounds, n):
    return next(itertools.islice(rounds, n - 1, None))


def clients_of(problem):
    return problem.clients(problem.reference())


@pytest.mark.parametrize("e", [1, 4, 30])
def test_proposition_1_fedgd_ends_on_the_closed_form(e):
    params = {"step": "1/L*", "local_steps": e}
    problem = quadratic_problem()
    settled = last(fedgd(clients_of(problem), **params), 4000)
    np.testing.assert_allclose(
        settled, next(algorithms.get("fedgd_limit")(clients_of(problem), **params)), atol=1e-9
    )


def test_proposition_1_gradients_at_the_limit_cancel():
    """Eq. (5): Σ_i Σ_j ∇f_j(G_j^{i−1}(x*)) = 0."""
    clients, e = clients_of(quadratic_problem()), 3
    x = last(fedgd(clients, step="1/L*", local_steps=e), 4000)
    local, total = clients.stack(x), 0.0
    for _ in range(e):
        g = clients.gradients(local)
        total = total + g.sum(axis=0)
        local = local - clients.step("1/L*") * g
    np.testing.assert_allclose(total, 0.0, atol=1e-8)


@pytest.mark.parametrize("step", [0.05, "1/sqrt(l*L*)"])
def test_proposition_2_fedprox_ends_on_the_closed_form(step):
    problem = quadratic_problem()
    settled = last(fedprox(clients_of(problem), step=step), 4000)
    np.testing.assert_allclose(
        settled, next(algorithms.get("fedprox_limit")(clients_of(problem), step=step)), atol=1e-9
    )


def test_those_limits_are_not_the_optimum():
    problem = quadratic_problem()
    best = problem.reference().optimum
    for rounds in (fedgd(clients_of(problem), local_steps=10), fedprox(clients_of(problem))):
        assert np.abs(last(rounds, 2000) - best).max() > 1e-3


@pytest.mark.parametrize("costs", [None, linear_model(), linear_model(columns=2)])
def test_proposition_3_fedsplit_ends_on_the_optimum(costs):
    clients = federation(costs)
    np.testing.assert_allclose(last(fedsplit(clients), 400), minimiser(clients.costs), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_theorem_1_bounds_every_round(seed):
    setting = {"m": 4, "d": 6, "n": 12, "sigma2": 1.0, "kappa": 50.0}
    problem = problems.get("fedsplit.conditioned_least_squares")(setting, seed)
    ref = problem.reference()
    factor = 1 - 2 / (np.sqrt(ref.constants["L*"] / ref.constants["l*"]) + 1)
    rounds = fedsplit(problem.clients(ref))
    for t in range(1, 60):
        error = np.linalg.norm(next(rounds) - ref.optimum)
        assert error <= factor ** (t - 1) * ref.facts["z_distance"] * (1 + 1e-9) + 1e-12


def test_theorem_2_reaches_the_accuracy_it_was_tuned_for():
    setting = {"m": 3, "d": 8, "n": 16, "rank": 5, "decay": 1.5}
    problem = problems.get("fedsplit.flat_least_squares")(setting, 0)
    ref = problem.reference()
    assert ref.constants["l*"] < 1e-12  # not strongly convex, indeed
    for epsilon in (0.1, 0.001):
        x = last(algorithms.get("fedsplit_regularised")(problem.clients(ref), epsilon=epsilon), 3000)
        assert 0 <= problem.measure("gap", ref)(x, None) <= epsilon


def test_the_designs_of_figure_3_have_their_condition_number():
    setting = {"m": 3, "d": 5, "n": 9, "sigma2": 1.0, "kappa": 400.0}
    problem = problems.get("fedsplit.conditioned_least_squares")(setting, 1)
    lam = np.linalg.eigvalsh(problem.costs.G)
    np.testing.assert_allclose(lam[:, -1], 400.0)
    np.testing.assert_allclose(lam[:, :-1], 1.0)


def test_every_algorithm_sees_the_same_data():
    setting = {"m": 2, "d": 3, "n": 8}
    build = problems.get("fedsplit.gaussian_logistic")
    one, two, other = build(setting, 0), build(setting, 0), build(setting, 1)
    assert np.array_equal(one.costs.data.A, two.costs.data.A) and np.array_equal(one.costs.b, two.costs.b)
    assert not np.array_equal(one.costs.data.A, other.costs.data.A)
