"""The local dual methods solve the one-dimensional problems their boxes state."""

from types import SimpleNamespace

import numpy as np
import pytest

from fedrepro.algorithms import hyfdca

LAM, N = 0.05, 40


@pytest.fixture
def client():
    """One client with rows of any length, duals inside their bounds and margins on both sides of one."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], N)
    rows = SimpleNamespace(y=y, n=N)
    return SimpleNamespace(
        data=SimpleNamespace(clients=[rows], lam=LAM, N=N),
        alpha=[y * rng.random(N)],
        margins=[2.0 * rng.standard_normal(N)],
        squares=rng.random(N) + 0.2,
        scale=LAM * N,
    )


def conjugate(y, alpha):
    """l*(−α) of the hinge loss: −yα where 0 <= yα <= 1, else infinite."""
    return np.where((y * alpha > -1e-12) & (y * alpha < 1 + 1e-12), -y * alpha, np.inf)


def algorithm5(client, change):
    """What Algorithm 5 maximises, with ‖x‖² put back."""
    y, a, z = client.data.clients[0].y, client.alpha[0], client.margins[0]
    return -conjugate(y, a + change) - change * z - change**2 * client.squares / (2 * client.scale)


def algorithm3(client, s, step, c):
    """What Algorithm 3 maximises over s in [0, 1], with −u in the subdifferential."""
    y, a, z = client.data.clients[0].y, client.alpha[0], client.margins[0]
    d = s * c * step * (np.where(y * z < 1, y, 0.0) - a)
    return -conjugate(y, a + d) - d * z - d**2 / (2 * LAM)


def test_the_corrected_closed_form_maximises_algorithm_5(client):
    everyone = np.arange(N)
    best = hyfdca.practical(client, 0, everyone, client.squares, 1.0, 1.0)
    value = algorithm5(client, best)
    for target in np.linspace(0, 1, 201):  # every feasible α
        other = client.data.clients[0].y * target - client.alpha[0]
        assert np.all(algorithm5(client, other) <= value + 1e-9)
    assert np.count_nonzero(np.abs(best) > 1e-3) > 10


def test_the_printed_closed_form_does_not(client):
    everyone = np.arange(N)
    printed, right = (
        algorithm5(client, f(client, 0, everyone, client.squares, 1.0, 1.0))
        for f in (hyfdca.printed, hyfdca.practical)
    )
    assert np.all(printed <= right + 1e-9) and np.count_nonzero(printed < right - 0.1) > 5
    # with a positive label and a row of unit length there is no slip
    unit = np.flatnonzero(client.data.clients[0].y > 0)
    client.squares = np.ones(N)
    changes = [f(client, 0, unit, client.squares, 1.0, 1.0) for f in (hyfdca.printed, hyfdca.practical)]
    assert np.allclose(*changes)


@pytest.mark.parametrize(("step", "c"), [(1.0, 1.0), (0.2, 1.0), (1.0, 0.25)])
def test_algorithm_3_takes_the_best_s(client, step, c):
    everyone = np.arange(N)
    change = hyfdca.theory(client, 0, everyone, None, step, c)
    y, a, z = client.data.clients[0].y, client.alpha[0], client.margins[0]
    towards = c * (np.where(y * z < 1, y, 0.0) - a)
    s = change / towards
    assert np.all((s > -1e-12) & (s < 1 + 1e-12)) and len(np.unique(np.round(s, 6))) > 5
    value = algorithm3(client, s, step, c)
    for other in np.linspace(0, 1, 201):
        assert np.all(algorithm3(client, other, step, c) <= value + 1e-9)
