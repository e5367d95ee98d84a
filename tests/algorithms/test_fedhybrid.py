"""FedHybrid against what it reduces to, its fixed points, and what it sends."""

import numpy as np
import pytest

from consensus_federations import D, N, federation, logistic, quadratics
from fedrepro.algorithms.fedhybrid import fedhybrid, newton_clients
from fedrepro.maths.optimum import minimiser


def server_points(costs, rounds, **params):
    clients = federation(costs)
    run = fedhybrid(clients, **params)
    return np.array([next(run) for _ in range(rounds)]), clients


@pytest.mark.parametrize("make", [quadratics, logistic])
def test_all_gradient_clients_are_arrow_hurwicz_uzawa(make):
    """(3.1) written with the stacked matrices of section 1, and the consensus update (3.9) for x_0."""
    costs, mu, a, b = make(), 0.7, 0.05, 0.03
    eye = np.eye(D)
    W = np.kron(np.hstack([np.ones((N, 1)), -np.eye(N)]), eye)  # N·D x (N+1)·D
    x, dual, x0 = np.zeros(N * D), np.zeros(N * D), np.zeros(D)
    got, _ = server_points(costs, 25, newton=0, mu=mu, a=a, b=b)
    for k in range(25):
        whole = np.concatenate([x0, x])
        f = np.concatenate([np.zeros(D), costs.gradient(x.reshape(N, D)).ravel()])
        slope = f + W.T @ dual + mu * W.T @ W @ whole  # the gradient of (2.1)
        x, dual = x - a * slope[D:], dual + b * W @ whole
        x0 = x.reshape(N, D).mean(axis=0) - dual.reshape(N, D).mean(axis=0) / mu
        np.testing.assert_allclose(got[k], x0, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("make", [quadratics, logistic])
def test_all_newton_clients_are_eq_3_7(make):
    """(3.7) with the block matrix H, a client at a time, and the consensus update (3.9)."""
    costs, mu, beta = make(), 0.4, 0.2
    x, dual, x0 = np.zeros((N, D)), np.zeros((N, D)), np.zeros(D)
    got, _ = server_points(costs, 20, newton="all", mu=mu, newton_b=beta)
    for k in range(20):
        H = costs.hessian(x) + mu * np.eye(D)
        g = costs.gradient(x)
        new = [x[i] - np.linalg.inv(H[i]) @ (g[i] - dual[i] + mu * (x[i] - x0)) for i in range(N)]
        dual = np.array([dual[i] + beta * H[i] @ (x0 - x[i]) for i in range(N)])
        x = np.array(new)
        x0 = x.mean(axis=0) - dual.mean(axis=0) / mu
        np.testing.assert_allclose(got[k], x0, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("make", [quadratics, logistic])
@pytest.mark.parametrize("newton", [0, 2, "all"])
def test_fixed_point_is_the_optimum_with_duals_equal_to_gradients(make, newton):
    costs = make()
    optimum = minimiser(costs)
    rows = np.broadcast_to(optimum, (N, D))
    top = costs.bounds()[1].max()
    points, clients = server_points(
        costs, 6000, newton=newton, mu=1.0, a=0.5 / (top + 1.0), b=0.1, newton_b=0.1 / (top + 1.0)
    )
    np.testing.assert_allclose(points[-1], optimum, atol=1e-8)
    np.testing.assert_allclose(clients.primal, rows, atol=1e-8)
    np.testing.assert_allclose(clients.dual, costs.gradient(rows), atol=1e-8)


def test_a_round_sends_one_vector_down_and_two_up():
    _, clients = server_points(quadratics(), 4, newton=2, mu=1.0, a=0.01, b=0.01)
    ledger = clients.ledger
    assert (ledger.floats_down, ledger.floats_up) == (4 * N * D, 4 * 2 * N * D)
    assert (ledger.exchanges, ledger.gradients, ledger.hessians) == (4, 4 * N, 4 * 2)


def test_newton_clients_random_order_and_stiffest():
    clients = federation(quadratics(), order=np.array([3, 1, 4, 0, 2]))
    assert newton_clients(clients.constants, 2, "random").tolist() == [1, 3]
    assert newton_clients(clients.constants, "half", "random").tolist() == [1, 3]
    assert newton_clients(clients.constants, "all", "random").tolist() == [0, 1, 2, 3, 4]
    stiff = int(np.argmax(clients.constants["high"]))
    assert newton_clients(clients.constants, 1, "stiffest").tolist() == [stiff]
    assert stiff not in newton_clients(clients.constants, "all but one", "softest")
    with pytest.raises(ValueError, match="6 Newton clients of 5"):
        newton_clients(clients.constants, 6, "random")


@pytest.mark.parametrize("make", [quadratics, logistic])
def test_columns_run_as_if_alone(make):
    """Trials that advance together are the runs they would be by themselves."""
    costs = make()
    trials = {
        "mu": np.array([0.3, 1.0, 2.0]),
        "a": np.array([0.02, 0.05, 0.01]),
        "newton_b": np.array([0.1, 0.2, 0.05]),
    }
    together = fedhybrid(federation(costs, start=np.zeros((D, 3))), newton=2, b=0.02, **trials)
    columns = np.array([next(together) for _ in range(15)])
    for j in range(3):
        alone, _ = server_points(costs, 15, newton=2, b=0.02, **{k: v[j] for k, v in trials.items()})
        np.testing.assert_allclose(columns[:, :, j], alone, rtol=1e-10, atol=1e-13)
