"""The compiled Lanczos steps are those of the plain ones, and fall back as they do."""

import numpy as np
import pytest

from fedrepro.maths.curvature import Curvature
from fedrepro.maths.lanczos import by_lapack, dominant
from fedrepro.maths.rank_one import compress


def hessian(rows=170, n=80, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rows, n)) * np.geomspace(1.0, 0.05, n)
    c = rng.random(rows) / rows
    bend = rng.standard_normal((n, n)) / n
    return rng, Curvature(A, A.T, c, 1e-3), 0.9 * ((A.T * c) @ A) + 0.05 * (bend + bend.T)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_pair_as_without_compiling(seed):
    rng, H, less = hessian(seed=seed)
    start = rng.standard_normal(80)
    for found, plain in zip(compress(H, less, start, 1e-3), dominant(H - less, start, 1e-3), strict=True):
        np.testing.assert_allclose(found, plain, rtol=1e-8, atol=1e-10)
    value, vector, _ = compress(H, less, start, 1e-3)
    D = np.asarray(H) - less
    assert np.linalg.norm(D @ vector - value * vector) <= 1.001e-3 * abs(value)


def test_lapack_where_it_does_not_settle():
    _, H, less = hessian()
    value, vector, _ = compress(H, less, np.eye(80)[0], 1e-16)
    exact, w, _ = by_lapack(H - less)
    assert value == pytest.approx(exact, rel=1e-12)
    assert abs(vector @ w) == pytest.approx(1.0)
