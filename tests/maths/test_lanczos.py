"""Lanczos, for one pair and for blocks, against LAPACK."""

import numpy as np
import pytest

from fedrepro.maths.lanczos import by_lapack, dominant, leading


@pytest.mark.parametrize("seed", range(4))
def test_lanczos_finds_the_eigenvalue_of_largest_magnitude(seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    values = rng.standard_normal(60) * np.geomspace(1, 1e-3, 60)
    values[seed] = -3.0 if seed % 2 else 3.0
    A = (Q * values) @ Q.T
    lam, v, following = dominant(A, np.ones(60), 1e-6)
    assert np.linalg.norm(A @ v - lam * v) <= 1e-6 * abs(lam)
    exact, w, _ = by_lapack(A)
    assert lam == pytest.approx(exact, rel=1e-10)
    assert abs(v @ w) == pytest.approx(1, abs=1e-8)
    second, _, _ = dominant(A - lam * np.outer(v, v), following, 1e-6)
    assert abs(second) == pytest.approx(np.sort(np.abs(values))[-2], rel=1e-6)


def test_lanczos_falls_back_where_it_would_miss_the_pair():
    A = np.diag([5.0, *np.linspace(0, 1, 79)])
    start = np.ones(80)
    start[0] = 0.0  # blind to the dominant direction
    A[1:, 1:] = np.diag(np.r_[1.0, np.zeros(78)])
    assert dominant(A, start, 1e-6)[0] == pytest.approx(5.0)
    assert dominant(np.zeros((10, 10)), np.ones(10), 1e-6)[0] == 0.0


def test_block_lanczos_follows_a_matrix_that_moves():
    rng = np.random.default_rng(2)
    Q = np.linalg.qr(rng.standard_normal((80, 80)))[0]
    A = (Q * np.geomspace(1.0, 1e-4, 80)) @ Q.T
    bend = rng.standard_normal((80, 80)) * 1e-4
    moved = A + bend + bend.T
    start = np.linalg.eigh(A)[1][:, -10:]
    values, vectors = leading(moved, start, 6, 1e-3)
    exact = np.linalg.eigvalsh(moved)
    np.testing.assert_allclose(values[-6:], exact[-6:], rtol=1e-5)  # second order in the residual
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(10), atol=1e-12)
    residuals = np.linalg.norm(moved @ vectors - vectors * values, axis=0)
    assert np.all(residuals[-6:] <= 1e-3 * values[-6:])
    blind = np.eye(80)[:, :10]
    assert leading(np.diag(np.linspace(0.9, 1.0, 80)), blind, 6, 1e-12) is not None  # an invariant subspace
    assert leading(A, rng.standard_normal((80, 2)), 2, 1e-14) is None  # not in so few blocks
