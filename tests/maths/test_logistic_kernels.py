"""Compiled sums over rows equal their plain twins."""

import numpy as np
import pytest
import scipy.sparse

from fedrepro.maths.kernels.gram import gram
from fedrepro.maths.kernels.logistic_step import full_step
from fedrepro.maths.losses import Logistic


def test_the_compiled_gram_matrix_equals_the_plain_one():
    rng = np.random.default_rng(0)
    A = scipy.sparse.random_array((50, 17), density=0.2, rng=rng, format="csr")
    w, out = rng.random(50), np.empty((17, 17))
    gram(A.indptr, A.indices, A.data, w, out)
    np.testing.assert_allclose(out, (A.T @ (A * w[:, None])).toarray(), atol=1e-14)
    np.testing.assert_array_equal(out, out.T)


@pytest.mark.parametrize("rows", [1, 63, 64, 67, 130])
def test_a_compiled_full_step_equals_the_plain_one(rows):
    rng = np.random.default_rng(rows)
    A, p, w = rng.standard_normal((rows, 9)), rng.standard_normal(9), rng.random(rows)
    u, b = 3 * rng.standard_normal(rows), np.where(rng.random(rows) < 0.5, 1.0, -1.0)
    du, g = np.full(rows, np.nan), np.full(9, np.nan)
    full_step(A, b, w, u, p, du, g)
    np.testing.assert_allclose(du, A @ p, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(g, A.T @ (w * Logistic.slope(u + A @ p, b)), rtol=1e-12, atol=1e-12)
