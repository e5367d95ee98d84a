"""Proximal maps: optimality, Moreau's identity, non-expansiveness, idempotence, and an independent solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from fedrepro.maths import proxes
from fedrepro.maths.proxes import L1, L1Ball, L2Ball, Nuclear, OnBlocks

SIDE = 4
REGULARISERS = [L1(0.7), Nuclear(0.6, (SIDE, SIDE))]
BALLS = [L1Ball(1.5), L2Ball(0.8)]
ALL = [*REGULARISERS, *BALLS, OnBlocks(L1Ball(0.9), (slice(0, 6), slice(9, 14)))]


def points(count=20, size=SIDE * SIDE, spread=1.5):
    rng = np.random.default_rng(7)
    return [spread * rng.standard_normal(size) * rng.choice([0.1, 1.0, 3.0]) for _ in range(count)]


@pytest.mark.parametrize("psi", ALL, ids=str)
def test_prox_beats_every_nearby_point(psi):
    """w = prox_{tψ}(v) minimises tψ(w) + ½‖w − v‖²: no feasible perturbation does better."""
    rng, t = np.random.default_rng(1), 0.6
    for v in points():
        w = psi.prox(v, t)
        best = t * psi.value(w) + 0.5 * np.sum((w - v) ** 2)
        assert np.isfinite(best)
        for size in (1e-3, 0.1, 1.0):
            for _ in range(10):
                other = w + size * rng.standard_normal(v.size)
                if psi in BALLS or isinstance(psi, OnBlocks):
                    other = psi.prox(other, t)
                assert t * psi.value(other) + 0.5 * np.sum((other - v) ** 2) >= best - 1e-10


@pytest.mark.parametrize("psi", ALL, ids=str)
def test_prox_is_firmly_non_expansive(psi):
    for a, b in zip(points(), points()[::-1], strict=True):
        pa, pb = psi.prox(a, 0.4), psi.prox(b, 0.4)
        assert np.sum((pa - pb) ** 2) <= (pa - pb) @ (a - b) + 1e-10


@pytest.mark.parametrize("psi", BALLS, ids=str)
def test_projections_are_idempotent_feasible_and_leave_the_inside_alone(psi):
    for v in points():
        w = psi.prox(v, 0.7)
        assert psi.value(w) == 0.0
        np.testing.assert_allclose(psi.prox(w, 0.7), w, atol=1e-12)
    inside = 0.01 * points(1)[0]
    np.testing.assert_array_equal(psi.prox(inside, 0.7), inside)


def test_moreau_l1_and_the_box():
    """v = prox_{t‖·‖₁}(v) + Proj_{‖·‖∞ ≤ t}(v)."""
    for v in points():
        np.testing.assert_allclose(proxes.soft_threshold(v, 0.4) + np.clip(v, -0.4, 0.4), v, atol=1e-14)


def test_moreau_nuclear_and_the_spectral_ball():
    for v in points():
        V = v.reshape(SIDE, SIDE)
        U, s, Wt = np.linalg.svd(V)
        ball = (U * np.minimum(s, 0.5)) @ Wt
        np.testing.assert_allclose(proxes.threshold_singular_values(V, 0.5) + ball, V, atol=1e-12)


def test_moreau_l1_ball_and_the_max_norm():
    """v − Proj_{‖·‖₁ ≤ r}(v) is the prox of r‖·‖∞: it clips the largest entries to a common level."""
    for v in points():
        rest = v - proxes.project_l1_ball(v, 1.0)
        top = np.abs(rest).max()
        if np.abs(v).sum() > 1.0:
            clipped = np.abs(v) >= top - 1e-12
            np.testing.assert_allclose(np.abs(rest)[clipped], top, atol=1e-12)
            np.testing.assert_allclose(rest[~clipped], v[~clipped], atol=1e-12)


@pytest.mark.parametrize("radius", [0.2, 1.0, 4.0])
def test_l1_ball_against_an_independent_solver(radius):
    """Quadratic programming in (w⁺, w⁻) ≥ 0 with Σ ≤ radius."""
    n = 6
    for v in points(4, size=n):
        found = minimize(
            lambda u, v=v: 0.5 * np.sum((u[:n] - u[n:] - v) ** 2),
            np.full(2 * n, radius / (4 * n)),
            jac=lambda u, v=v: np.concatenate([u[:n] - u[n:] - v, -(u[:n] - u[n:] - v)]),
            bounds=[(0, None)] * (2 * n),
            constraints={"type": "ineq", "fun": lambda u: radius - u.sum()},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        ).x
        np.testing.assert_allclose(proxes.project_l1_ball(v, radius), found[:n] - found[n:], atol=1e-5)


def test_nuclear_prox_against_an_independent_solver():
    """Variational form ‖W‖_nuc = min ½(‖A‖² + ‖B‖²), W = ABᵀ, minimised over A and B from a random start."""
    rng = np.random.default_rng(3)
    V, t, n = rng.standard_normal((3, 3)), 0.5, 3

    def objective(x):
        A, B = x[:9].reshape(n, n), x[9:].reshape(n, n)
        R = A @ B.T - V
        value = 0.5 * np.sum(R * R) + 0.5 * t * (np.sum(A * A) + np.sum(B * B))
        return value, np.concatenate([(R @ B + t * A).ravel(), (R.T @ A + t * B).ravel()])

    x = minimize(objective, rng.standard_normal(18), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    W = x[:9].reshape(n, n) @ x[9:].reshape(n, n).T
    np.testing.assert_allclose(proxes.threshold_singular_values(V, t), W, atol=1e-5)


def test_blocks_are_projected_one_by_one_and_the_rest_is_left_alone():
    psi = OnBlocks(L1Ball(1.0), (slice(0, 3), slice(4, 7)))
    v = np.array([3.0, 0, 0, 9.0, 0.2, 0.2, 0.2, 5.0])
    np.testing.assert_allclose(psi.prox(v, 1.0), [1, 0, 0, 9, 0.2, 0.2, 0.2, 5])
