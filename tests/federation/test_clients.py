"""Clients: what they count, and their inexact proxes."""

import numpy as np

from federations import SIZES, D, federation
from fedrepro.algorithms.fedgd import fedgd
from fedrepro.algorithms.fedsplit import fedsplit

M = len(SIZES)


def test_the_ledger_by_hand():
    clients = federation()
    rounds = fedgd(clients, step="1/L*", local_steps=5)
    next(rounds)
    next(rounds)
    counted = {name: count for name, count in clients.ledger.row().items() if count}
    assert counted == {
        "floats_down": 2 * M * D,
        "floats_up": 2 * M * D,
        "messages": 4 * M,
        "exchanges": 2,
        "gradients": 2 * 5 * M,
    }


def test_inexact_proxes_count_their_gradients():
    clients = federation()
    next(fedsplit(clients, prox=7))
    assert (clients.ledger.proxes, clients.ledger.gradients) == (M, 7 * M)


def test_inexact_prox_obeys_corollary_1():
    """Error after e gradient steps ≤ (1 − 1/(√κ+1))ᵉ ‖v − prox(v)‖, eq. (18)."""
    clients = federation()
    low, high = clients.constants["l*"], clients.constants["L*"]
    s = 1 / np.sqrt(low * high)
    v = np.random.default_rng(0).standard_normal((M, D))
    exact = clients.prox(v, s)
    for e in (1, 3, 10):
        error = np.linalg.norm(clients.prox_by_gradient(v, s, e, start=v) - exact, axis=1)
        bound = (1 - 1 / (np.sqrt(high / low) + 1)) ** e * np.linalg.norm(v - exact, axis=1)
        assert np.all(error <= bound + 1e-12)


def test_accelerated_prox_meets_its_tolerance():
    clients = federation()
    v = np.random.default_rng(0).standard_normal((M, D))
    u = clients.prox_by_acceleration(v, 0.8, 1e-10)
    gradient = 0.8 * clients.costs.gradient(u) + u - v
    assert np.linalg.norm(gradient, axis=1).max() <= 1e-10
