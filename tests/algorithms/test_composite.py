"""What the algorithms must reduce to, and the identities the paper proves."""

import numpy as np
import pytest

from fedrepro import algorithms
from fedrepro.federation.cohorts import SampledClients, Sampling
from fedrepro.maths.mirrors import Entropy, Euclidean
from fedrepro.maths.models.linear import LinearModel
from fedrepro.maths.proxes import L1, OnBlocks, Zero, soft_threshold
from fedrepro.maths.seeds import stream

M, N, D = 6, 20, 12


def federation(psi=None, cohort=3, batch=5, epochs=1, sizes=None, seed=0):
    rng = np.random.default_rng(11)
    sizes = [N] * M if sizes is None else sizes
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    X = rng.standard_normal((offsets[-1], D)) + np.repeat(rng.standard_normal((len(sizes), D)), sizes, axis=0)
    y = X[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(len(X))
    penalty = Zero() if psi is None else OnBlocks(psi, (slice(0, D),))
    start = np.append(0.3 * rng.standard_normal(D), 0.0)
    return SampledClients(
        LinearModel("squared", X, y), penalty, Sampling(offsets, cohort, batch, epochs, seed), start
    )


def run(name, clients, rounds=8, **params):
    generator = algorithms.get(name)(clients, **params)
    return [next(generator) for _ in range(rounds)]


RATES = {"client_rate": 0.004, "server_rate": 0.7}


@pytest.mark.parametrize("name", ["fedmid", "fedmid_osp", "feddualavg", "feddualavg_osp"])
def test_without_psi_everything_is_fedavg(name):
    for ours, theirs in zip(
        run(name, federation(), **RATES), run("fedavg", federation(), **RATES), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_feddualavg_with_one_step_and_all_clients_is_dual_averaging():
    """Eq. (2.4) with step η_s η_c on the full gradient."""
    clients = federation(L1(0.4), cohort=M, batch=N)
    found = run("feddualavg", clients, rounds=30, **RATES)
    step = RATES["client_rate"] * RATES["server_rate"]
    z = clients.start
    for t, w in enumerate(found):
        point = np.append(soft_threshold(z[:-1], 0.4 * step * t), z[-1])
        z = z - step * clients.model.gradient(point, slice(None))
        np.testing.assert_allclose(
            w, np.append(soft_threshold(z[:-1], 0.4 * step * (t + 1)), z[-1]), atol=1e-13
        )


def test_fedmid_with_one_step_and_all_clients_is_proximal_gradient():
    """With η_s = 1 and only the server's prox, one local step is centralised proximal gradient; FedMiD's
    clients apply the prox as well, so with K = 1 it is the proximal step followed by the server's."""
    eta = 0.01
    clients = federation(L1(0.4), cohort=M, batch=N)
    osp = run("fedmid_osp", clients, rounds=30, client_rate=eta, server_rate=1.0)
    central = run("centralised", federation(L1(0.4), cohort=M, batch=N), rounds=30, rate=eta)
    np.testing.assert_allclose(osp, central, atol=1e-13)
    full = run(
        "fedmid",
        federation(L1(0.4), cohort=1, batch=N, sizes=[N]),
        rounds=5,
        client_rate=eta,
        server_rate=1.0,
    )
    alone = federation(L1(0.4), cohort=1, batch=N, sizes=[N])
    w = alone.start
    for found in full:
        w = alone.psi.prox(alone.psi.prox(w - eta * alone.model.gradient(w, slice(None)), eta), eta)
        np.testing.assert_allclose(found, w, atol=1e-13)


def test_shadow_sequence():
    """Eq. (4.5): with η_s = 1 the mean dual state moves by the mean of the clients' gradients at their own
    points, step by step. Checked by replaying every client's local steps."""
    clients = federation(L1(0.4), cohort=M)
    h, eta, shrink = clients.mirror("euclidean"), 0.004, 0.0
    generator = algorithms.get("feddualavg")(clients, client_rate=eta, server_rate=1.0)
    shadow = clients.start.copy()
    for round in range(6):
        visit = clients.sampling.visit(round)
        states = np.repeat(shadow[None], M, axis=0)
        for k in range(N // 5):
            rows = visit.rows[:, 5 * k : 5 * k + 5]
            g = np.array(
                [
                    clients.model.gradient(h.primal(z, shrink + eta * k), r)
                    for z, r in zip(states, rows, strict=True)
                ]
            )
            states = states - eta * g
            shadow = shadow - eta * g.mean(axis=0)
        shrink += eta * (N // 5)
        np.testing.assert_allclose(next(generator), h.primal(shadow, shrink), atol=1e-13)


@pytest.mark.parametrize("name", ["fedmid", "feddualavg"])
def test_only_server_proximal_differs_by_the_client_prox_alone(name, monkeypatch):
    """With the client prox switched off, the full method becomes its OSP variant, bit for bit."""
    osp = run(f"{name}_osp", federation(L1(0.4)), **RATES)
    full = run(name, federation(L1(0.4)), **RATES)
    assert np.abs(np.array(osp) - full).max() > 1e-4
    clients = federation(L1(0.4))
    walk = clients.model.walk
    clients.model.walk = lambda mode, mirror, *rest: walk(mode, mirror.smooth, *rest)
    np.testing.assert_array_equal(run(name, clients, **RATES), osp)


def test_weights_are_by_examples_and_the_last_batch_is_smaller():
    clients = federation(sizes=[7, 20, 11], cohort=3, batch=5)
    cohort = clients.sample()
    np.testing.assert_allclose(cohort.weights, np.array([7, 20, 11]) / 38)
    assert list(cohort.steps) == [2, 4, 3]
    assert pytest.approx((7 * 2 + 20 * 4 + 11 * 3) / 38) == cohort.K


def test_ledger_counts_the_cohort_only():
    clients = federation(L1(0.1), cohort=3)
    run("feddualavg", clients, rounds=4, **RATES)
    row = clients.ledger.row()
    assert row["floats_down"] == row["floats_up"] == 4 * 3 * (D + 1)
    assert row["samples"] == 4 * 3 * N
    assert row["proxes"] == row["local_steps"] == 4 * 3 * (N // 5)
    osp = federation(L1(0.1), cohort=3)
    run("feddualavg_osp", osp, rounds=4, **RATES)
    assert osp.ledger.proxes == 0


def test_all_algorithms_and_rates_meet_the_same_clients_and_batches():
    a, b = (Sampling(np.arange(0, 101, 10), 4, 3, 2, seed=9) for _ in range(2))
    b.visit(5)  # asked for out of order
    for round in range(6):
        np.testing.assert_array_equal(a.visit(round).rows, b.visit(round).rows)
    other = Sampling(np.arange(0, 101, 10), 4, 3, 2, seed=10)
    assert not np.array_equal(a.visit(0).rows, other.visit(0).rows)


def test_entropy_is_mirror_descent_on_the_simplex():
    """∇(h + ψ)* inverts ∇h up to a constant, stays on the simplex, and one FedMiD step with one local step is
    the exponentiated gradient."""
    h = Entropy()
    w = stream(0, "test").dirichlet(np.ones(5))
    np.testing.assert_allclose(h.primal(h.dual(w), 1.0), w, atol=1e-14)
    np.testing.assert_allclose(h.smooth.primal(h.dual(w), 1.0), w, atol=1e-14)
    g = np.arange(5.0)
    step = w * np.exp(-0.1 * g)
    np.testing.assert_allclose(h.primal(h.dual(w) - 0.1 * g, 0.1), step / step.sum(), atol=1e-14)


@pytest.mark.parametrize("name", ["fedmid", "feddualavg"])
def test_entropy_runs_through_the_algorithms(name):
    """A least squares problem over the simplex: the iterates stay on it and the loss falls throughout. FedMiD's
    server adds a primal change to a dual state (line 10), which the entropy makes small: it is slower."""
    clients = federation(cohort=M, batch=N)
    weights = np.append(np.full(D, 1.0 / (D + 1)), 1.0 / (D + 1))  # the simplex of all parameters
    clients.start = weights
    before = clients.model.value(weights, clients.model.X, clients.model.y)
    found = run(name, clients, rounds=60, client_rate=0.05, server_rate=1.0, mirror="entropy")
    for w in found:
        assert w.min() >= 0 and w.sum() == pytest.approx(1.0)
    values = [clients.model.value(w, clients.model.X, clients.model.y) for w in found]
    assert values[-1] < (0.7 if name == "feddualavg" else 0.9) * before
    assert np.all(np.diff(values) < 0)


def test_the_average_of_sparse_clients_is_denser():
    """The curse of primal averaging (figure 2), and its absence in the dual."""
    clients = federation(L1(3.0), cohort=M, batch=5, epochs=4)
    h = clients.mirror("euclidean")
    local = clients.sample().mirror_descent(clients.start, 0.004, h)
    own = (np.abs(local[:, :-1]) > 1e-8).sum(axis=1)
    average = (np.abs(local[:, :-1].mean(axis=0)) > 1e-8).sum()
    assert own.max() < average


def test_euclidean_smooth_drops_psi():
    assert isinstance(Euclidean(L1(1.0)).smooth.psi, Zero)
