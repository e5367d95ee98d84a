"""Shared eigenpairs: the Hessian they approximate, and renewals."""

import numpy as np
import pytest
from scipy.linalg.lapack import dtfttr

from fedrepro.algorithms.parts.eigenpairs import EigenPairs, largest
from fedrepro.experiments.reference import Reference
from shed_federations import quadratic


@pytest.mark.parametrize("increments", [[1, 1, 1, 1], [2, 0, 5, 1], [12, 12, 12, 12]])
def test_the_updated_hessian_equals_the_rebuilt_one(increments):
    problem = quadratic(n=12)
    agents = problem.clients(Reference())
    pairs = EigenPairs(agents, problem.costs.G)
    q = np.zeros(4, int)
    for _ in range(5):
        following = pairs.share(np.array(increments))
        q = np.minimum(q + increments, 11)
        H = np.zeros((12, 12))
        for w, G, k, rho in zip(problem.weights, problem.costs.G, q, following, strict=True):
            lam, V = np.linalg.eigh(G)
            lam, V = lam[::-1], V[:, ::-1]
            assert rho == pytest.approx(lam[k], rel=1e-10)
            H += w * (sum((lam[j] - rho) * np.outer(V[:, j], V[:, j]) for j in range(k)) + rho * np.eye(12))
        np.testing.assert_allclose(dtfttr(12, pairs.hessian(following))[0], np.triu(H), atol=1e-12)
        np.testing.assert_allclose(pairs.direction(following, H @ np.ones(12)), np.ones(12), atol=1e-9)


def test_pairs_found_in_two_goes_stay_orthonormal_when_eigenvalues_repeat():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    H = (Q * np.repeat([5.0, 2.0, 1.0, 0.1], 10)) @ Q.T  # the twelfth and thirteenth are equal
    problem = quadratic(n=40, sizes=(50,))
    pairs = EigenPairs(problem.clients(Reference()), H[None])
    pairs.share(np.array([5]))
    pairs.share(np.array([30]))
    V = pairs.vectors[0]
    np.testing.assert_allclose(V @ V.T, np.eye(40), atol=1e-10)
    np.testing.assert_allclose((V.T * pairs.values[0]) @ V, H, atol=1e-10)


@pytest.mark.parametrize(("n", "k"), [(50, 1), (50, 5), (50, 32), (50, 33), (50, 50), (2, 1), (1, 1)])
def test_the_largest_pairs_are_those_of_a_full_decomposition(n, k):
    A = np.random.default_rng(4).standard_normal((60, n)) * np.geomspace(3.0, 0.01, n)
    H = A.T @ A / 60
    values, V = largest(H, k)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(H)[-k:], rtol=1e-9)
    np.testing.assert_allclose(H @ V, V * values, atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_largest_pairs_are_found_beside_a_cluster_of_equal_eigenvalues(seed):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((300, 300)))[0]
    H = (Q * np.r_[np.full(100, -5.0), np.geomspace(1.0, 1e-5, 200)]) @ Q.T
    values, V = largest((H + H.T) / 2, 200)  # LAPACK's MRRR gives up on these
    np.testing.assert_allclose(values[::-1], np.geomspace(1.0, 1e-5, 200), atol=1e-13)
    np.testing.assert_allclose(V.T @ V, np.eye(200), atol=1e-12)


def test_pairs_of_a_renewal_start_from_those_before_it():
    """Mont-Dec's few pairs, found from the last round's, are those of the Hessian to second order."""
    problem = quadratic(n=60, sizes=(150, 200))
    agents, H = problem.clients(Reference()), problem.costs.G
    before = EigenPairs(agents, H, once=True)
    before.share(np.array([4, 6]))
    moved = H + 1e-3 * np.diag(np.linspace(0, 1, 60))
    pairs = EigenPairs(agents, moved, before=before, once=True)
    following = pairs.share(np.array([5, 3]))
    exact = np.linalg.eigvalsh(moved)[:, ::-1]
    assert pairs.values.shape[1] < 60  # not all of them
    np.testing.assert_allclose(pairs.values[:, :6], exact[:, :6], rtol=1e-5)
    np.testing.assert_allclose(following, [exact[0, 5], exact[1, 3]], rtol=1e-5)


def test_a_renewal_of_the_same_hessians_decomposes_nothing():
    problem = quadratic(n=12)
    before = EigenPairs(problem.clients(Reference()), problem.costs.G)
    before.share(np.full(4, 11))
    again = EigenPairs(problem.clients(Reference()), problem.costs.G, before=before)
    assert again.vectors is before.vectors
    assert again.sent.max() == 0
