"""SHED and its rivals against the paper's theorems and against methods they must coincide with."""

import numpy as np
import pytest

from fedrepro.algorithms.agd import agd
from fedrepro.algorithms.fednl import fednl, projected_solve
from fedrepro.algorithms.giant import giant
from fedrepro.algorithms.mont_dec import mont_dec
from fedrepro.algorithms.nesterov import nesterov
from fedrepro.algorithms.parts.backtracking import armijo
from fedrepro.algorithms.shed import shed
from fedrepro.algorithms.shed_ls import shed_ls
from fedrepro.experiments.reference import Reference
from shed_federations import SIZES, iterates, logistic, quadratic


def newton(problem, rounds, alpha=0.1, beta=0.5):
    """Damped Newton on the pooled cost, by hand."""
    x, points = problem.start, []
    f = lambda x: float(problem.pooled.value(x[None])[0])  # noqa: E731
    for _ in range(rounds):
        g = problem.pooled.gradient(x[None])[0]
        p = np.linalg.solve(problem.pooled.hessian(x[None])[0], g)
        eta = 1.0
        while f(x - eta * p) > f(x) - alpha * eta * (p @ g):
            eta *= beta
        x = x - eta * p
        points.append(x)
    return points


def factor(spectrum, rho, eta, q):
    approximated = np.concatenate([spectrum[:q], np.full(len(spectrum) - q, rho)])
    return np.abs(1 - eta * spectrum / approximated).max()


@pytest.mark.parametrize("seed", range(5))
def test_theorem_1_best_factor_and_corollary_2(seed):
    rng = np.random.default_rng(seed)
    lam = np.sort(rng.exponential(1.0, 9))[::-1]
    for q in range(9):
        following, low = lam[q], lam[-1]
        best = 1 - low / ((following + low) / 2)
        assert factor(lam, (following + low) / 2, 1.0, q) == pytest.approx(best, abs=1e-12)
        tried = [
            factor(lam, r, e, q)
            for r in np.linspace(low / 2, 2 * following, 60)
            for e in np.linspace(0.05, 2, 60)
        ]
        assert min(tried) >= best - 1e-12
        z = rng.standard_normal(9)
        error = np.linalg.norm((1 - lam / np.r_[lam[:q], np.full(9 - q, (following + low) / 2)]) * z)
        for rho in np.linspace(low, following, 7):  # the other pairs of S*
            eta = 2 * rho / (following + low)
            assert factor(lam, rho, eta, q) == pytest.approx(best, abs=1e-12)
            other = np.linalg.norm((1 - eta * lam / np.r_[lam[:q], np.full(9 - q, rho)]) * z)
            assert error <= other + 1e-12


@pytest.mark.parametrize("increment", [1, 2, "channel"])
def test_theorem_3_bounds_every_step(increment):
    problem = quadratic()
    optimum = problem.reference().optimum
    spectra = np.linalg.eigvalsh(problem.costs.G)[:, ::-1]
    agents, points = iterates(shed_ls, problem, 8, increment=increment)
    fading = problem.clients(problem.reference())
    q, last = np.zeros(len(SIZES), int), np.linalg.norm(problem.start - optimum)
    for x in points:
        q = np.minimum(q + fading.increments(increment), 11)
        rho = (spectra[np.arange(len(q)), q] + spectra[:, -1]) / 2
        bound = 1 - (problem.weights @ spectra[:, -1]) / (problem.weights @ rho)
        now = np.linalg.norm(x - optimum)
        assert now <= bound * last * (1 + 1e-9) + 1e-13
        last = now
    assert agents.ledger.hessians == len(SIZES)


def test_shed_ls_ends_with_n_minus_1_pairs():
    problem = quadratic(n=12)
    optimum = problem.reference().optimum
    _, points = iterates(shed_ls, problem, 11)
    errors = [np.linalg.norm(x - optimum) for x in points]
    assert errors[-1] < 1e-12 * np.linalg.norm(optimum)
    assert errors[-2] > 1e-12 * np.linalg.norm(optimum)


def test_both_approximation_parameters_converge_and_the_optimal_one_is_better():
    problem = quadratic()
    optimum = problem.reference().optimum
    ends = {}
    for rho in ("optimal", "next"):
        ends[rho] = np.linalg.norm(iterates(shed_ls, problem, 6, rho=rho)[1][-1] - optimum)
    assert ends["optimal"] <= ends["next"] < np.linalg.norm(optimum)


def test_periodic_renewals_send_the_first_pairs_again():
    problem = quadratic(n=12)
    optimum = problem.reference().optimum
    _, points = iterates(shed_ls, problem, 30, renewals="periodic", period=4)
    errors = [np.linalg.norm(x - optimum) for x in points]
    assert 1e-12 < errors[-1] < errors[10] < errors[0]


def test_shed_with_all_pairs_every_round_is_newton():
    problem = logistic()
    _, ours = iterates(shed, problem, 6, renewals="always", increment=99)
    for a, b in zip(ours, newton(problem, 6), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)


def test_with_one_agent_shed_is_the_centralised_method():
    problem = logistic(sizes=(160,))
    pooled, x = problem.pooled, problem.start
    _, ours = iterates(shed, problem, 7, increment=2)
    pairs, renewals, q = None, {1, 2, 4}, 0
    for t, point in enumerate(ours, 1):  # C_j = 1, 2, 4, then n − 1 = 7 after it has been reached
        if t in renewals or t == 7:
            pairs, q = np.linalg.eigh(pooled.hessian(x[None])[0]), 0
        q = min(q + 2, 7)
        lam, V = pairs[0][::-1], pairs[1][:, ::-1]
        H = (V * np.r_[lam[:q], np.full(8 - q, lam[q])]) @ V.T
        g = pooled.gradient(x[None])[0]
        p = np.linalg.solve(H, g)
        eta = armijo(problem.clients(Reference()), x, p, g, 0.1, 0.5)
        x = x - eta * p
        np.testing.assert_allclose(point, x, atol=1e-9)


def test_giant_with_one_agent_is_newton_and_counts_three_rounds():
    problem = logistic(sizes=(160,))
    agents, ours = iterates(giant, problem, 5)
    for a, b in zip(ours, newton(problem, 5), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)
    assert agents.ledger.exchanges == 15
    assert agents.ledger.vectors == 10


def test_giant_is_the_weighted_harmonic_mean():
    problem = logistic()
    H = problem.costs.hessian(np.zeros((4, 8)))
    g = problem.pooled.gradient(np.zeros((1, 8)))[0]
    p = sum(w * np.linalg.solve(h, g) for w, h in zip(problem.weights, H, strict=True))
    _, (x,) = iterates(giant, problem, 1)
    eta = armijo(problem.clients(Reference()), problem.start, p, g, 0.1, 0.5)
    np.testing.assert_allclose(x, -eta * p, rtol=1e-10)


def test_fednl_learns_the_hessian_at_the_optimum():
    problem = logistic(n=6)
    ref = problem.reference()
    agents = problem.clients(ref)
    run = fednl(agents)
    for _ in range(60):
        x = next(run)
    learned = run.gi_frame.f_locals["learned"]
    at_optimum = problem.costs.hessian(np.broadcast_to(ref.optimum, (4, 6)))
    at_start = problem.costs.hessian(np.zeros((4, 6)))
    np.testing.assert_allclose(learned, at_optimum, atol=1e-9)
    assert np.abs(at_start - at_optimum).max() > 1e-3
    np.testing.assert_allclose(x, ref.optimum, atol=1e-10)
    np.testing.assert_allclose(
        run.gi_frame.f_locals["H"], np.tensordot(problem.weights, learned, axes=1), atol=1e-10
    )


def test_fednl_counts_the_initial_hessian_and_two_vectors_a_round():
    problem = logistic(n=6)
    agents, _ = iterates(fednl, problem, 3)
    assert agents.ledger.vectors == 6 + 3 * 2
    assert agents.ledger.exchanges == 6
    assert agents.ledger.hessians == 4 * 3


def test_projection_only_lifts_what_lies_below():
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    g = rng.standard_normal(5)
    H = (V * np.array([3.0, 1.0, 0.5, -0.2, 0.01])) @ V.T
    lifted = (V * np.array([3.0, 1.0, 0.5, 0.1, 0.1])) @ V.T
    np.testing.assert_allclose(projected_solve(H, 0.1, g), np.linalg.solve(lifted, g), rtol=1e-10)


def test_unequal_agents_are_weighted_by_their_sizes():
    problem = logistic()
    x = np.linspace(-1, 1, 8)
    rows = np.broadcast_to(x, (4, 8))
    p = np.array(SIZES) / sum(SIZES)
    agents = problem.clients(Reference())
    np.testing.assert_allclose(agents.weights, p)
    np.testing.assert_allclose(agents.mean_gradient(x), p @ problem.costs.gradient(rows), atol=1e-13)
    np.testing.assert_allclose(
        problem.pooled.hessian(x[None])[0], np.tensordot(p, problem.costs.hessian(rows), axes=1), atol=1e-13
    )
    direction = np.ones(8)
    change = p @ (problem.costs.value(rows) - problem.costs.value(rows - 0.3 * direction))
    assert agents.decrease(x, direction, agents.mean_gradient(x), 20)(0.3) == pytest.approx(change, abs=1e-12)
    plain = np.full(4, 0.25) @ problem.costs.gradient(rows)
    assert np.abs(plain - agents.mean_gradient(x)).max() > 1e-3


def test_vectors_by_hand_over_three_rounds():
    """Each round sends the gradient and d_t vectors; each iteration of SHED is two communication rounds."""
    problem = logistic()
    m, n = 4, 8
    agents, _ = iterates(shed, problem, 3, increment=2)
    assert agents.ledger.vectors == 3 * (2 + 1)
    assert agents.ledger.exchanges == 3 * 2
    assert agents.ledger.hessians == 2 * m  # renewals at t = 1 and t = 2
    scalars = 3 * (2 + 1 + 20)  # λ_j and ρ, and the losses of twenty candidate steps
    assert agents.ledger.floats_up == m * (3 * 3 * n + scalars)
    assert agents.ledger.floats_down == m * 3 * 2 * n
    agents, _ = iterates(shed_ls, quadratic(), 3, increment=3)
    assert agents.ledger.vectors == 3 * (3 + 1)
    assert agents.ledger.exchanges == 3


def test_mont_dec_renews_every_round_with_the_increments_of_shed_plus():
    problem = logistic()
    agents, _ = iterates(mont_dec, problem, 5)
    plus, _ = iterates(shed, problem, 5, increment="channel")
    assert agents.ledger.hessians == 5 * 4
    draws = [problem.clients(Reference()).increments("channel") for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    assert plus.ledger.hessians < agents.ledger.hessians


@pytest.mark.parametrize("method", [shed, mont_dec, giant, fednl, agd, nesterov])
def test_every_method_reaches_the_optimum(method):
    problem = logistic()
    optimum = problem.reference().optimum
    rounds = 1500 if method in (agd, nesterov) else 80
    x = iterates(method, problem, rounds)[1][-1]
    assert np.linalg.norm(x - optimum) < 1e-6 * np.linalg.norm(optimum)


def test_two_runs_of_a_cell_are_bit_identical():
    first, second = (iterates(shed, logistic(), 12, increment="channel")[1][-1] for _ in range(2))
    np.testing.assert_array_equal(first, second)
