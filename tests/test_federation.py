import numpy as np
import pytest

from federations import SIZES, D, federation, least_squares
from fedrepro.algorithms.fedgd import fedgd
from fedrepro.algorithms.fedsplit import fedsplit
from fedrepro.federation import Clients
from fedrepro.steps import parse, stepsize

M = len(SIZES)


def test_the_ledger_by_hand():
    clients = federation()
    rounds = fedgd(clients, step="1/L*", local_steps=5)
    next(rounds)
    next(rounds)
    assert clients.ledger.row() == {
        "floats_down": 2 * M * D,
        "floats_up": 2 * M * D,
        "messages": 4 * M,
        "exchanges": 2,
        "gradients": 2 * 5 * M,
        "hessians": 0,
        "proxes": 0,
    }


def test_inexact_proxes_count_their_gradients():
    clients = federation()
    next(fedsplit(clients, prox=7))
    assert (clients.ledger.proxes, clients.ledger.gradients) == (M, 7 * M)


def test_weighted_average_uses_the_weights():
    clients = Clients(least_squares(), weights=[0.5, 0.3, 0.2])
    z = np.arange(M * D, dtype=float).reshape(M, D)
    np.testing.assert_allclose(clients.weighted_average(z), 0.5 * z[0] + 0.3 * z[1] + 0.2 * z[2])


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


@pytest.mark.parametrize(
    "rule, expected",
    [(0.25, 0.25), ("1/L*", 1 / 9), ("2/(l*+L*)", 0.2), ("1/sqrt(l*L*)", 1 / 3), ("0.5/L_F", 0.1), ("2e0/(l_F+L_F)", 0.25)],
)  # fmt: skip
def test_stepsize_rules(rule, expected):
    assert stepsize(rule, {"l*": 1.0, "L*": 9.0, "l_F": 3.0, "L_F": 5.0}) == pytest.approx(expected)


@pytest.mark.parametrize("rule", ["1/K*", "fast", "L*", None, True])
def test_a_wrong_stepsize_rule_is_refused(rule):
    with pytest.raises(ValueError, match="neither a number nor"):
        parse(rule)


def test_a_stepsize_without_strong_convexity_says_so():
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=r"l\* = 0"):
        stepsize("1/sqrt(l*L*)", {"l*": np.float64(0.0), "L*": 2.0})
