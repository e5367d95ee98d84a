"""Systems side by side, against LAPACK."""

import numpy as np
import pytest

from fedrepro.maths.kernels import cholesky


def packed(rng, d, count):
    A = rng.standard_normal((count, d + 2, d))
    low = np.tril_indices(d)
    return np.array([(a.T @ a + 0.1 * np.eye(d))[low] for a in A]).T.copy()


def by_lapack(M, r):
    """One matrix at a time."""
    d = len(r)
    low = np.tril_indices(d)
    out = np.empty_like(r)
    for p in range(r.shape[1]):
        full = np.zeros((d, d), M.dtype)
        full[low] = full.T[low] = M[:, p]
        out[:, p] = np.linalg.solve(full, r[:, p])
    return out


@pytest.mark.parametrize("d", [1, 2, 7, 30])
def test_equals_lapack(d):
    rng = np.random.default_rng(d)
    M, r = packed(rng, d, 9), rng.standard_normal((d, 9))
    wanted = by_lapack(M, r)
    cholesky.factorise(M)
    cholesky.solve(M, r)
    np.testing.assert_allclose(r, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())


def test_an_indefinite_matrix_spoils_its_own_column_only():
    rng = np.random.default_rng(0)
    M, r = packed(rng, 4, 3), rng.standard_normal((4, 3))
    wanted = by_lapack(M, r)
    M[0, 1] = -1.0
    cholesky.factorise(M)
    cholesky.solve(M, r)
    assert np.isnan(r[:, 1]).any()
    np.testing.assert_allclose(r[:, [0, 2]], wanted[:, [0, 2]], rtol=1e-12, atol=1e-12 * np.abs(wanted).max())
