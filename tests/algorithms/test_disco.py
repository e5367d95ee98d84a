"""DiSCO: with one client it is damped Newton; its inner solver meets its tolerance."""

import numpy as np

from consensus_federations import federation, logistic, quadratics
from fedrepro.algorithms.disco import conjugate_gradients, disco


def with_constants(costs, l_F=1.0, L_F=1.0):
    clients = federation(costs)
    clients.constants |= {"l_F": l_F, "L_F": L_F}
    return clients


def test_one_client_is_damped_newton():
    """The client's own Hessian as preconditioner solves the system in one inner step, whatever the tolerance."""
    costs = logistic(n=1, d=4)
    run = disco(with_constants(costs, l_F=1e-20), mu=0.0)
    x = np.zeros(4)
    for _ in range(6):
        g, H = costs.gradient(x[None])[0], costs.hessian(x[None])[0]
        v = np.linalg.solve(H, g)
        x = x - v / (1.0 + np.sqrt(v @ H @ v))
        np.testing.assert_allclose(next(run), x, rtol=1e-9, atol=1e-12)


def test_unit_steps_solve_a_quadratic_at_once():
    costs = quadratics(n=4)
    x = next(disco(with_constants(costs, l_F=1e-24), mu=0.1, damped=False))
    np.testing.assert_allclose(costs.gradient(np.broadcast_to(x, (4, 3))).sum(axis=0), 0.0, atol=1e-9)


def test_conjugate_gradients_meet_their_tolerance_and_no_more():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    H = (Q * np.logspace(0, 4, 40)) @ Q.T
    near = H + 0.5 * np.diag(rng.random(40))
    g = rng.standard_normal(40)
    steps = {}
    for tolerance in (1e-1, 1e-4, 1e-8):
        calls = []
        v, delta = conjugate_gradients(
            lambda u, calls=calls: calls.append(1) or H @ u, lambda r: np.linalg.solve(near, r), g, tolerance
        )
        assert np.linalg.norm(H @ v - g) <= 1.001 * tolerance * np.linalg.norm(g)
        np.testing.assert_allclose(delta, np.sqrt(v @ H @ v), rtol=1e-6)
        steps[tolerance] = len(calls)
    assert steps[1e-1] < steps[1e-4] < steps[1e-8]


def test_columns_of_systems_are_solved_each():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((12, 6))
    H = A.T @ A + np.eye(6)
    g = rng.standard_normal((6, 5))
    v, _ = conjugate_gradients(lambda u: H @ u, lambda r: r, g, 1e-9)
    np.testing.assert_allclose(v, np.linalg.solve(H, g), rtol=1e-6, atol=1e-9)


def test_every_inner_product_is_an_exchange():
    costs = quadratics(n=4)
    clients = with_constants(costs, l_F=1e-12)
    next(disco(clients, mu=0.1))
    inner = clients.ledger.products // 4
    assert inner >= 2
    assert clients.ledger.exchanges == 1 + inner
    assert clients.ledger.floats_up == 4 * 3 * (1 + inner)
