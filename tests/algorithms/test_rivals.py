"""The methods a researcher of today expects beside the papers', each against a known result of its own paper."""

from functools import cache

import numpy as np
import pytest
from test_composite import federation

from fedrepro import algorithms
from fedrepro.algorithms.fednl_topk import top
from fedrepro.experiments.reference import solve
from fedrepro.federation.agents import Agents
from fedrepro.federation.clients import Clients
from fedrepro.federation.horizontal import HorizontalClients
from fedrepro.maths.costs import LinearModels, Quadratics
from fedrepro.maths.pooled import PooledLogistic
from fedrepro.maths.proxes import L1
from small_federations import rectangles, sampled, small

M, D = 4, 6


def run(name, clients, rounds, **params):
    generator = algorithms.get(name)(clients, **params)
    return [np.array(next(generator)) for _ in range(rounds)]


def bowls(kappa=20.0, alike=False):
    """Quadratics with curvatures from 1 to κ in directions of their own, and x*."""
    rng = np.random.default_rng(5)
    Q = [np.linalg.qr(rng.standard_normal((D, D)))[0] for _ in range(M)]
    Q = [Q[0]] * M if alike else Q
    G = np.stack([(q * np.geomspace(1.0, kappa, D)) @ q.T for q in Q])
    costs = Quadratics(G, rng.standard_normal((M, D)), np.zeros(M))
    ref = solve(costs)
    return Clients(costs, np.zeros(D), ref.constants), ref.optimum


def logistic(alike=False):
    """Agents around means of their own, with x* of the weighted cost."""
    rng = np.random.default_rng(3)
    n, rows = 5, 40
    X = rng.standard_normal((M * rows, n)) + np.repeat(rng.standard_normal((M, n)), rows, axis=0)
    X = np.tile(X[:rows], (M, 1)) if alike else X
    b = np.where(X @ np.arange(1.0, n + 1) + 0.5 > 0, 1.0, -1.0)
    parts = [slice(i * rows, (i + 1) * rows) for i in range(M)]
    weights = [np.full(rows, 1.0 / rows)] * M
    costs = LinearModels("logistic", [X[p] for p in parts], [b[p] for p in parts], weights, 0.05)
    ref = solve(costs)
    pooled = PooledLogistic(X, b, np.full(len(b), 1.0 / len(b)), 0.05)
    return Agents(costs, pooled, np.full(M, 1.0 / M), np.zeros(n), ref.constants | {"mu": 0.05}), ref.optimum


def error(points, optimum):
    return np.linalg.norm(points[-1] - optimum) / np.linalg.norm(optimum)


# --- smooth ---


def test_scaffold_is_exact_where_local_steps_alone_plateau():
    """Karimireddy et al., section 7 and Theorem III: no plateau from clients that differ."""
    clients, best = bowls()
    assert error(run("fedgd", clients, 600, local_steps=10), best) > 0.1
    assert error(run("scaffold", bowls()[0], 600, step="0.1/L*"), best) < 1e-8


def test_proxskip_that_never_skips_is_gradient_descent():
    one, two = bowls()[0], bowls()[0]
    np.testing.assert_allclose(run("proxskip", one, 40, p=1.0), run("fedgd", two, 40), atol=1e-12)


def test_proxskip_communicates_like_the_root_of_the_condition_number():
    """Theorem 3.6 with γ = 1/L and p = 1/√κ: √κ log(1/ε) averages, κ log(1/ε) gradients."""
    kappas = np.array([16.0, 64.0, 256.0, 1024.0])
    rounds, gradients = [], []
    for kappa in kappas:
        clients, best = bowls(kappa)
        method = algorithms.get("proxskip")(clients)
        for x in method:
            if np.linalg.norm(x - best) <= 1e-8 * np.linalg.norm(best):
                break
        rounds.append(clients.ledger.exchanges)
        gradients.append(clients.ledger.gradients)
    slope = [np.polyfit(np.log(kappas), np.log(found), 1)[0] for found in (rounds, gradients)]
    assert 0.35 < slope[0] < 0.65 and 0.8 < slope[1] < 1.2


def test_fednew_reaches_the_optimum_and_sends_d_floats():
    clients, best = bowls()
    found = run("fednew", clients, 200, alpha=0.5, rho=5.0)
    assert error(found, best) < 1e-8
    assert clients.ledger.floats_up == 200 * M * D
    once = run("fednew", bowls()[0], 20, alpha=0.5, rho=5.0, hessians="once")
    np.testing.assert_allclose(once, found[:20], rtol=1e-12)  # a quadratic's Hessian is the same everywhere


def test_fednew_ends_in_the_newton_direction():
    """Their claim of the inner loop: with point and Hessians held, ADMM's y tends to (mean H_i + αI)⁻¹ mean g_i."""
    clients, _ = bowls()
    clients.gradients = lambda x: -clients.costs.c  # of the start, wherever x has got to
    points = run("fednew", clients, 400, alpha=0.5, rho=5.0)
    newton = np.linalg.solve(clients.costs.G.mean(axis=0) + 0.5 * np.eye(D), -clients.costs.c.mean(axis=0))
    np.testing.assert_allclose(points[-2] - points[-1], newton, rtol=1e-8)


def test_local_newton_is_newton_for_clients_alike_and_stalls_where_they_differ():
    agents, best = logistic(alike=True)
    assert error(run("local_newton", agents, 8), best) < 1e-10
    agents, best = logistic()
    assert error(run("giant", agents, 40), best) < 1e-8
    stalled = run("local_newton", agents, 40)
    assert 1e-3 < error(stalled, best) < 1
    values = [agents.values(x).mean() for x in stalled]
    assert np.all(np.diff(values) <= 1e-15)


def test_dane_on_quadratics_is_the_closed_form():
    """Shamir et al., eq. (16): x − η mean((H_i + μI)⁻¹)∇f."""
    clients, _ = bowls()
    G, c, mu, eta = clients.costs.G, clients.costs.c, 8.0, 0.7
    found = run("dane", clients, 10, step=1 / mu, eta=eta)
    x, inverse = np.zeros(D), np.linalg.inv(G + mu * np.eye(D)).mean(axis=0)
    for point in found:
        x = x - eta * inverse @ (G.mean(axis=0) @ x - c.mean(axis=0))
        np.testing.assert_allclose(point, x, atol=1e-12)


def test_dane_is_newton_for_clients_alike():
    agents, best = logistic(alike=True)
    assert error(run("dane", agents, 12, step=1e3), best) < 1e-6


@pytest.mark.parametrize("k", [1, 4, 15])
def test_top_k_contracts(k):
    """Safaryan et al., eq. (6): ‖C(A) − A‖² ≤ (1 − δ)‖A‖²; here k pairs of n(n+1)/2 leave at most that share."""
    A = np.random.default_rng(1).standard_normal((3, 5, 5))
    A = A + A.transpose(0, 2, 1)
    kept = top(A, k)
    np.testing.assert_array_equal(kept, kept.transpose(0, 2, 1))
    assert np.all(np.count_nonzero(np.tril(kept), axis=(1, 2)) == k)
    left, size = (np.sum(np.tril(part) ** 2, axis=(1, 2)) for part in (A - kept, A))
    assert np.all(left <= (1 - k / 15) * size + 1e-12)


def test_fednl_with_all_entries_is_newton_a_step_behind():
    """k = n(n+1)/2 learns ∇²f(θ^{t−1}) exactly."""
    agents, best = logistic()
    assert error(run("fednl_topk", agents, 12, k=15), best) < 1e-10
    sparse = run("fednl_topk", agents, 40)
    assert error(sparse, best) < 1e-10


# --- composite: everybody takes part, full gradients ---


def whole(epochs=1):
    return federation(L1(0.4), cohort=6, batch=20, epochs=epochs)


@cache
def best_of():
    *_, last, best = run("centralised", whole(), 2000, rate=0.03)
    assert np.abs(best - last).max() < 1e-13
    return best


def test_feddr_ends_at_the_composite_optimum():
    """Tran-Dinh et al., Theorem 3.1: Douglas–Rachford's fixed points are stationary, for any η and α < 2."""
    best = best_of()
    assert error(run("feddr", whole(10), 250, eta=0.05, client_rate=0.03, alpha=1.5), best) < 1e-8


def test_fast_feddualavg_without_strong_convexity_is_feddualavg():
    rates = {"client_rate": 0.01}
    ours = run("fast_feddualavg", whole(3), 30, mu=0.0, **rates)
    np.testing.assert_allclose(ours, run("feddualavg", whole(3), 30, **rates), atol=1e-12)


def test_fast_feddualavg_outlives_the_noise():
    """Their Theorem 1: with small batches the error falls like 1/T, where steps of a constant length end in noise."""
    best = best_of()

    def ends(name, rounds, **more):
        clients = federation(L1(0.4), cohort=6, batch=2)
        return np.mean([error([x], best) for x in run(name, clients, rounds, client_rate=0.02, **more)[-20:]])

    fast = [ends("fast_feddualavg", rounds, mu=0.5) for rounds in (60, 360)]
    slow = [ends("feddualavg", rounds) for rounds in (60, 360)]
    assert fast[1] < 0.5 * fast[0] and slow[1] > 0.8 * slow[0] and fast[1] < 0.5 * slow[1]


def test_decoupled_is_exact_with_local_steps_where_fedmid_is_not():
    """Zhang, Hu & Johansson, Theorem 1 without noise: linearly to argmin f + ψ, whatever τ."""
    best = best_of()
    points = run("decoupled", whole(4), 500, client_rate=0.008)
    found = [error(points[:n], best) for n in (100, 200, 500)]
    assert found[2] < 1e-8 and found[1] / found[0] < 0.1
    assert error(run("fedmid", whole(4), 300, client_rate=0.004), best) > 1e-2


# --- horizontal dual ascent ---


def test_cocoa_is_refreshed_hyfdca_where_nobody_shares_a_sample():
    theirs, ours = small(HorizontalClients), small(HorizontalClients)
    found = run("cocoa", ours, 12, inner=6)
    np.testing.assert_allclose(found, run("hyfdca", theirs, 12, inner=6, local="refreshed"), atol=1e-12)
    assert ours.ledger.floats_up < theirs.ledger.floats_up


def test_cocoa_ends_at_the_optimum():
    clients, best = small(HorizontalClients), small(HorizontalClients, case="shared").start
    assert error(run("cocoa", clients, 3000, inner=6), best) < 1e-3


def test_clients_that_share_samples_are_refused():
    with pytest.raises(ValueError, match="several holders"):
        HorizontalClients(rectangles().data)


def test_sampled_clients_may_be_absent():
    """FedDR and the decoupled method keep what absent clients last had: the iterates stay finite and move."""
    for name, params in (("feddr", {"eta": 0.05, "client_rate": 0.02}), ("decoupled", {"client_rate": 0.01})):
        points = run(name, sampled(), 30, **params)
        assert np.all(np.isfinite(points)) and np.abs(points[-1] - points[0]).max() > 1e-3
