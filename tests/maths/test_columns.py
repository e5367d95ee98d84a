"""Costs with a column per trial, against the plain costs and finite differences."""

import numpy as np
import pytest

from consensus_federations import logistic, quadratics
from fedrepro.maths.columns import ColumnLogistic
from fedrepro.maths.costs import LinearModels, Quadratics


@pytest.mark.parametrize("make", [quadratics, logistic])
def test_columns_agree_with_single_points(make):
    costs = make(4)
    rng = np.random.default_rng(4)
    x, u = rng.standard_normal((2, costs.m, 3, 6))
    mu, rows, optimum = rng.random(6) + 0.1, [0, 2, 3], rng.standard_normal(3)
    near = costs.curvature(x, rows, mu)
    for j in range(6):
        one = costs.curvature(x[..., j], rows, mu[j])
        np.testing.assert_allclose(
            costs.gradient(x)[..., j], costs.gradient(x[..., j]), rtol=1e-12, atol=1e-13
        )
        np.testing.assert_allclose(
            costs.products(x, u)[..., j], costs.products(x[..., j], u[..., j]), rtol=1e-11, atol=1e-13
        )
        np.testing.assert_allclose(near.solve(u[rows])[..., j], one.solve(u[rows][..., j]), rtol=1e-9)
        np.testing.assert_allclose(near.apply(u[rows])[..., j], one.apply(u[rows][..., j]), rtol=1e-11)
    points = x[0]
    best = costs.value(np.broadcast_to(optimum, (costs.m, 3))).sum()
    for j in range(6):
        value = costs.value(np.broadcast_to(points[:, j], (costs.m, 3))).sum()
        if isinstance(costs, Quadratics):  # there the gap formula holds at the minimiser alone
            continue
        assert costs.gap(points, optimum)[j] == pytest.approx(value - best, rel=1e-10)


@pytest.mark.parametrize("make", [quadratics, logistic])
def test_curvature_is_the_shifted_hessian(make):
    costs = make(5)
    rng = np.random.default_rng(5)
    x, r = rng.standard_normal((2, costs.m, 3))
    H = costs.hessian(x)[[1, 4]] + 0.3 * np.eye(3)
    near = costs.curvature(x, [1, 4], 0.3)
    np.testing.assert_allclose(near.apply(r[[1, 4]]), np.einsum("jab,jb->ja", H, r[[1, 4]]), rtol=1e-12)
    np.testing.assert_allclose(near.apply(near.solve(r[[1, 4]])), r[[1, 4]], rtol=1e-10)
    numeric = (costs.gradient(x + 1e-6 * r) - costs.gradient(x - 1e-6 * r)) / 2e-6
    np.testing.assert_allclose(costs.products(x, r), numeric, rtol=1e-6, atol=1e-8)


def test_unpadded_logistic_costs_are_the_padded_ones():
    costs = logistic(6)
    labels = [costs.b[part] for part in costs.parts]
    weights = [costs.w[part] for part in costs.parts]
    plain = LinearModels("logistic", costs.A, labels, weights, costs.ridge)
    rng = np.random.default_rng(6)
    x, optimum = rng.standard_normal((costs.m, 3)), rng.standard_normal(3)
    np.testing.assert_allclose(costs.value(x), plain.value(x), rtol=1e-12)
    np.testing.assert_allclose(costs.gradient(x), plain.gradient(x), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(costs.hessian(x), plain.hessian(x), rtol=1e-11)
    np.testing.assert_allclose(costs.bounds()[1], plain.bounds()[1], rtol=1e-12)
    assert costs.gap(x[0], optimum) == pytest.approx(plain.gap(x[0], optimum), rel=1e-11)


def test_the_model_has_value_slope_and_curvature_of_the_costs():
    costs = logistic(7)
    rng = np.random.default_rng(7)
    x, away = rng.standard_normal((2, 3))
    model, rows = costs.near(x), np.broadcast_to(x, (costs.m, 3))
    np.testing.assert_allclose(model.gradient(rows), costs.gradient(rows), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(model.hessian(rows), costs.hessian(rows), rtol=1e-12)
    off = [
        np.abs(model.gradient(rows + t * away) - costs.gradient(rows + t * away)).max() for t in (1e-2, 1e-3)
    ]
    assert off[0] == pytest.approx(100 * off[1], rel=0.2)  # what is left is of second order
    assert quadratics(7).near(x).gap(away, x) == quadratics(7).gap(away, x)


def dependent(seed):
    """Rows that span two of the four dimensions, and one client with a single row."""
    rng = np.random.default_rng(seed)
    A = [rng.standard_normal((k, 2)) @ rng.standard_normal((2, 4)) for k in (9, 1, 5)]
    b = [np.where(rng.random(len(a)) < 0.5, 1.0, -1.0) for a in A]
    return ColumnLogistic(A, b, [np.full(len(a), 1.0 / len(a)) for a in A], ridge=0.2)


def test_dependent_columns_need_only_the_rows_span():
    costs = dependent(8)
    assert [costs.row_space(j)[0].shape for j in range(3)] == [(4, 2), (4, 1), (4, 2)]
    rng = np.random.default_rng(8)
    x, r = rng.standard_normal((2, 3, 4, 5))
    mu = rng.random(5) + 0.1
    near = costs.curvature(x, range(3), mu)
    for p in range(5):
        one = costs.curvature(x[..., p], range(3), mu[p])
        np.testing.assert_allclose(near.solve(r)[..., p], one.solve(r[..., p]), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(near.apply(r)[..., p], one.apply(r[..., p]), rtol=1e-11, atol=1e-12)
