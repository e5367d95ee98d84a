"""Theorem 4.1: its inequality for random mixes, its metric, and the instance that the printed rate fails on."""

import numpy as np
import pytest

from consensus_federations import federation, logistic, quadratics
from fedrepro.algorithms.fedhybrid import fedhybrid, largest_steps
from fedrepro.maths.optimum import minimiser
from fedrepro.papers.fedhybrid import problems
from fedrepro.papers.fedhybrid import theory as lagrangian


def errors(costs, optimum, count, mu, rounds, order):
    clients = federation(costs, order)
    run = fedhybrid(clients, newton=count, mu=mu, a="bound")
    out = []
    for _ in range(rounds):
        next(run)
        tracking, dual = lagrangian.metric(costs, optimum, clients.primal, clients.dual, mu)
        out.append(13 * dual + tracking)
    return np.array(out)


@pytest.mark.parametrize("seed", range(6))
def test_error_contracts_for_random_mixes(seed):
    """Δ^{k+1} ≤ (1 − ρ)Δ^k with the proof's ρ, at the largest stepsizes (4.2) allows."""
    rng = np.random.default_rng(seed)
    costs = (quadratics if seed % 2 else logistic)(seed)
    order, count, mu = (
        rng.permutation(costs.m),
        int(rng.integers(0, costs.m + 1)),
        float(rng.choice([0.3, 1.0, 3.0])),
    )
    low, high = costs.bounds()
    rho = lagrangian.rates(low, high, order[:count], mu)["proved"]
    error = errors(costs, minimiser(costs), count, mu, 60, order)
    assert rho > 0
    assert np.all(error[1:] <= (1 - rho) * error[:-1])


def test_printed_rate_fails_where_only_the_slowest_dual_mode_moves():
    problem = problems.opposed_quadratics({"kappa": 50}, 0)
    low, high = problem.costs.bounds()
    rho = lagrangian.rates(low, high, [], 1.0)
    error = errors(problem.costs, np.zeros(2), 0, 1.0, 800, np.arange(2))
    slowest = 1 - error[-1] / error[-2]
    assert rho["proved"] < slowest < rho["printed"]


@pytest.mark.parametrize("make", [quadratics, logistic])
def test_metric_is_the_difference_of_lagrangians(make):
    """(4.1) by its definition: L̃ at the point, at its minimiser, and at the optimum."""
    costs, mu = make(3), 0.8
    rng = np.random.default_rng(3)
    optimum = minimiser(costs)
    x, dual = rng.standard_normal((costs.m, 3)), rng.standard_normal((costs.m, 3))

    def augmented(x0, x):
        gap = x0 - x
        return costs.value(x).sum() + np.sum(dual * gap) + 0.5 * mu * np.sum(gap**2)

    x0 = x.mean(axis=0) - dual.mean(axis=0) / mu
    near0, near = lagrangian.inner_minimiser(costs, dual, mu, x)
    tracking, dual_gap = lagrangian.metric(costs, optimum, x, dual, mu)
    best = augmented(near0, near)
    for _ in range(20):
        assert (
            augmented(near0 + 0.01 * rng.standard_normal(3), near + 0.01 * rng.standard_normal(x.shape))
            > best
        )
    assert tracking == pytest.approx(augmented(x0, x) - best, rel=1e-9)
    assert dual_gap == pytest.approx(costs.value(np.broadcast_to(optimum, x.shape)).sum() - best, rel=1e-8)


def test_largest_steps_meet_each_condition_of_4_2_with_equality():
    low, high, J2, mu = np.array([0.5, 1.0, 2.0]), np.array([3.0, 8.0, 5.0]), [1], 0.7
    a, b = largest_steps(low, high, J2, mu)
    cap = 1 / (22 * mu / 9 + 2 * 8.0)
    np.testing.assert_allclose(a, [cap, (1.0 + mu) * cap, cap])
    alpha = min(cap, a[1] / (8.0 + mu))
    beta = min(mu / 9, alpha * 0.5**2 / 21)
    np.testing.assert_allclose(b, [beta, beta / (8.0 + mu), beta])
