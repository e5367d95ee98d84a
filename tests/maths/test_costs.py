"""Properties every stacked cost must have, whatever the loss and however the data are stored."""

import numpy as np
import pytest

from federations import COSTS, data, least_squares, linear_model
from fedrepro.maths.costs import LinearModels
from fedrepro.maths.losses import LOSSES
from fedrepro.maths.optimum import minimiser
from fedrepro.maths.stacks import EmptyClient

every = pytest.mark.parametrize("name", COSTS)


def point(costs, seed=1):
    return np.random.default_rng(seed).standard_normal((costs.m, *costs.shape))


@every
def test_gradient_is_the_slope_of_the_value(name):
    costs = COSTS[name]()
    x, direction, h = point(costs), point(costs, 2), 1e-6
    numeric = (costs.value(x + h * direction) - costs.value(x - h * direction)) / (2 * h)
    exact = np.sum(costs.gradient(x) * direction, axis=tuple(range(1, x.ndim)))
    np.testing.assert_allclose(numeric, exact, rtol=1e-6)


@every
def test_hessian_is_the_slope_of_the_gradient(name):
    costs = COSTS[name]()
    x, direction, h = point(costs), point(costs, 2), 1e-6
    numeric = (costs.gradient(x + h * direction) - costs.gradient(x - h * direction)) / (2 * h)
    H = costs.hessian(x)
    if x.ndim == 2:
        exact = np.einsum("jde,je->jd", H, direction)
    else:
        exact = np.einsum("jkde,jek->jdk", H, direction)
    np.testing.assert_allclose(numeric, exact, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["least squares, by rows", "logistic", "logistic, sparse"])
def test_curvatures_multiply_as_the_hessians_do(name):
    costs = COSTS[name]()
    x, matrix = point(costs), np.diag(np.arange(4.0))
    few = np.random.default_rng(3).standard_normal((4, 2))
    for map_, H in zip(costs.curvatures(x), costs.hessian(x), strict=True):
        np.testing.assert_allclose(map_ @ few[:, 0], H @ few[:, 0], rtol=1e-12)
        np.testing.assert_allclose(map_ @ few, H @ few, rtol=1e-12)
        np.testing.assert_allclose((map_ - matrix) @ few, (H - matrix) @ few, rtol=1e-11)
        np.testing.assert_allclose(np.asarray(map_ - matrix - matrix), H - 2 * matrix, atol=1e-12)


@every
@pytest.mark.parametrize("step", [0.01, 1.0, 50.0])
def test_prox_solves_its_optimality_condition(name, step):
    costs = COSTS[name]()
    v = 3 * point(costs)
    u = costs.prox(v, step)
    np.testing.assert_allclose(u + step * costs.gradient(u), v, atol=1e-9)


@every
def test_moreau_identity(name):
    """v = prox_{sf}(v) + s prox_{f*/s}(v/s): the second term is the gradient at the prox, whose conjugate
    optimality is checked through the Fenchel–Young equality along random directions."""
    costs = COSTS[name]()
    step, v = 0.7, 2 * point(costs)
    u = costs.prox(v, step)
    dual = (v - u) / step  # = prox_{f*/s}(v/s)
    np.testing.assert_allclose(dual, costs.gradient(u), atol=1e-9)
    axes = tuple(range(1, u.ndim))
    conjugate = np.sum(dual * u, axis=axes) - costs.value(u)  # f*(dual), attained at u
    for seed in range(5):
        other = u + 0.5 * point(costs, seed + 10)
        assert np.all(np.sum(dual * other, axis=axes) - costs.value(other) <= conjugate + 1e-9)


@every
def test_prox_is_firmly_nonexpansive(name):
    costs = COSTS[name]()
    v, w = point(costs, 3), point(costs, 4)
    p, q = costs.prox(v, 2.0), costs.prox(w, 2.0)
    axes = tuple(range(1, v.ndim))
    assert np.all(np.sum((p - q) ** 2, axis=axes) <= np.sum((p - q) * (v - w), axis=axes) + 1e-10)


@every
def test_bounds_hold_at_random_points(name):
    costs = COSTS[name]()
    low, high = costs.bounds()
    for seed in range(5):
        H = costs.hessian(point(costs, seed))
        lam = np.linalg.eigvalsh(H).reshape(costs.m, -1)
        assert np.all(lam.min(axis=1) >= low - 1e-9)
        assert np.all(lam.max(axis=1) <= high + 1e-9)


@every
def test_gap_equals_the_difference_of_values(name):
    costs = COSTS[name]()
    best = minimiser(costs)
    x = best + 0.5 * np.random.default_rng(5).standard_normal(costs.shape)
    total = lambda x: np.sum(costs.value(np.broadcast_to(x, (costs.m, *x.shape))))  # noqa: E731
    assert costs.gap(x, best) == pytest.approx(total(x) - total(best), rel=1e-9)
    assert costs.gap(best, best) == 0.0


def test_gap_stays_accurate_where_subtraction_has_lost_every_digit():
    costs = linear_model()
    best = minimiser(costs)
    near = best + 1e-9 * np.ones_like(best)
    H = costs.hessian(np.broadcast_to(best, (costs.m, *best.shape))).sum(axis=0)
    expected = 0.5e-18 * float(np.sum(H))
    assert costs.gap(near, best) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("pair", [(n, f"{n}, sparse") for n in ("least squares", "logistic", "one-vs-all")])
def test_dense_equals_sparse(pair):
    dense, sparse = (COSTS[name]() for name in pair)
    x = point(dense)
    for oracle in ("value", "gradient", "hessian"):
        np.testing.assert_allclose(
            getattr(sparse, oracle)(x), getattr(dense, oracle)(x), rtol=1e-12, atol=1e-12
        )
    np.testing.assert_allclose(sparse.prox(x, 1.5), dense.prox(x, 1.5), atol=1e-10)


def test_gram_form_equals_rows():
    by_gram, by_rows = least_squares(), linear_model("least_squares")
    x = point(by_gram)
    np.testing.assert_allclose(by_gram.value(x), by_rows.value(x), rtol=1e-12)
    np.testing.assert_allclose(by_gram.gradient(x), by_rows.gradient(x), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(by_gram.prox(x, 0.3), by_rows.prox(x, 0.3), atol=1e-10)


def test_weights_count_rows_as_often_as_they_say():
    A, _, labels = data()
    twice = LinearModels("logistic", [np.vstack([a, a]) for a in A], [np.tile(b, 2) for b in labels])
    weighted = LinearModels("logistic", A, labels, weights=[np.full(len(b), 2.0) for b in labels])
    x = point(twice)
    np.testing.assert_allclose(weighted.gradient(x), twice.gradient(x), rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_divergence_is_what_its_definition_says(loss):
    rng = np.random.default_rng(0)
    loss = LOSSES[loss]
    u, v = 20 * rng.standard_normal((2, 200))
    b = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    expected = loss.value(u, b) - loss.value(v, b) - loss.slope(v, b) * (u - v)
    np.testing.assert_allclose(loss.divergence(u, v, b), expected, rtol=1e-9, atol=1e-12)
    assert np.isfinite(loss.divergence(np.array([-800.0]), np.array([900.0]), np.array([1.0]))).all()


def test_an_empty_client_is_named():
    with pytest.raises(EmptyClient, match="client 1 of 2 has no rows"):
        LinearModels("logistic", [np.ones((2, 3)), np.ones((0, 3))], [np.ones(2), np.ones(0)])
