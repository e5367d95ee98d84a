"""Wide clients kept as spans compute what plain stacks compute."""

import numpy as np
import pytest

from fedrepro.algorithms.fedgd import fedgd
from fedrepro.algorithms.fedsplit import fedsplit
from fedrepro.federation.clients import Clients
from fedrepro.federation.wide import WideClients
from fedrepro.maths.costs import LinearModels
from fedrepro.maths.wide import WideLinearModels
from fedrepro.papers.fedsplit.problems.characters import RandomFeatures

SIZES, CLASSES, RIDGE = [3, 5, 4], 3, 0.05


def both(memory_gb=1.0):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (sum(SIZES), 9), dtype=np.uint8)
    R, G = rng.choice([-1.0, 1.0], (8, 9)), rng.standard_normal((7, 9))
    design = RandomFeatures(pixels, SIZES, R, G, memory_gb)
    b = np.where(rng.integers(0, CLASSES, sum(SIZES))[:, None] == np.arange(CLASSES), 1.0, -1.0)
    cuts = np.cumsum(SIZES)[:-1]
    A = design.features(slice(0, sum(SIZES)))
    plain = LinearModels("logistic", np.split(A, cuts), np.split(b, cuts), ridge=RIDGE)
    wide = WideLinearModels("logistic", design, b, RIDGE)
    constants = {"l*": RIDGE, "L*": float(wide.smoothness().max())}
    return WideClients(wide, None, constants), Clients(plain, None, constants)


def test_features_are_the_papers():
    wide, _ = both()
    design = wide.costs.design
    row = design.features(slice(0, 1))[0]
    u = design.pixels[0] / 255.0
    expected = np.concatenate([[1.0], u, np.maximum(design.R @ u, 0), np.maximum(design.G @ u, 0)])
    np.testing.assert_allclose(row, expected)


def test_smoothness_and_value_agree():
    wide, plain = both()
    np.testing.assert_allclose(wide.costs.smoothness(), plain.costs.bounds()[1], rtol=1e-10)
    x = np.random.default_rng(1).standard_normal(plain.shape)
    total = plain.values(x).sum()
    assert wide.costs.value_at(x) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("memory_gb", [1.0, 0.0])
@pytest.mark.parametrize(
    "algorithm, params",
    [
        (fedgd, {"step": "1/L*", "local_steps": 3}),
        (fedsplit, {"prox": "exact"}),
        (fedsplit, {"prox": "accelerated", "tolerance": 1e-11}),
        (fedsplit, {"prox": 4}),
    ],
)
def test_every_round_is_the_same_in_both_forms(algorithm, params, memory_gb):
    wide, plain = both(memory_gb)
    for _, ours, theirs in zip(range(6), algorithm(wide, **params), algorithm(plain, **params), strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
    assert wide.ledger.floats_up == plain.ledger.floats_up
    assert wide.ledger.floats_down == plain.ledger.floats_down
