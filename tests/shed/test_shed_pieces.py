"""The shared pieces: renewal rules, backtracking, shared eigenpairs, Lanczos, the pooled cost."""

import numpy as np
import pytest
import scipy.sparse
from scipy.linalg.lapack import dtfttr
from shed_federations import logistic, quadratic

from fedrepro.backtracking import armijo
from fedrepro.eigenpairs import EigenPairs, largest
from fedrepro.kernels.gram import gram, gram_plain
from fedrepro.kernels.logistic_step import full_step, full_step_plain
from fedrepro.lanczos import by_lapack, dominant, leading
from fedrepro.problems.shed import logistic_federation
from fedrepro.renewals import rule


def renewed(due, rounds, norms=()):
    return [t for t in range(1, rounds + 1) if due(t, list(norms[: t - 1]))]


def test_fibonacci_renewals():
    assert renewed(rule("fibonacci", 300), 900) == [1, 2, 4, 7, 12, 20, 33, 54, 88, 143, 232, 376, 675]
    # C_j passes n − 1 = 299 at 376; from there on they are 299 apart
    assert renewed(rule("fibonacci", 8), 30) == [1, 2, 4, 7, 14, 21, 28]


def test_periodic_once_and_always():
    assert renewed(rule("periodic", 9, period=5), 16) == [1, 5, 10, 15]
    assert renewed(rule("once", 9), 50) == [1]
    assert renewed(rule("always", 9), 4) == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="fibonacci"):
        rule("never", 9)


def test_gradient_norm_renewals_as_printed_and_reversed():
    norms = [10.0, 9.0, 7.0, 6.5, 6.4]  # falls of 1, 2, 0.5, 0.1
    # printed: at t = 4 the last fall (2) was greater than the one before (1)
    assert renewed(rule("gradient_norm", 100), 6, norms) == [1, 4]
    assert renewed(rule("gradient_norm", 100, reverse=True), 6, norms) == [1, 5, 6]
    assert renewed(rule("gradient_norm", 100, b=0.25, reverse=True), 6, norms) == [1, 6]
    steady = [100.0 - t for t in range(40)]
    assert renewed(rule("gradient_norm", 8), 20, steady) == [1, 9, 17]  # after n iterations in any case


def test_armijo_takes_the_first_step_that_satisfies_it():
    problem = logistic()
    agents = problem.clients({})
    x = problem.start
    g = agents.mean_gradient(x)
    f = lambda x: float(problem.pooled.value(x[None])[0])  # noqa: E731
    for scale in (0.1, 10.0, 300.0):
        p = scale * g
        before = agents.ledger.exchanges
        eta = armijo(agents, x, p, g, 0.3, 0.5)
        assert agents.ledger.exchanges == before + 1
        assert f(x - eta * p) <= f(x) - 0.3 * eta * (p @ g)
        if eta < 1:
            assert f(x - 2 * eta * p) > f(x) - 0.3 * 2 * eta * (p @ g)
    assert armijo(agents, x, -g, g, 0.3, 0.5, candidates=4) == 0.125  # an ascent direction: none does


@pytest.mark.parametrize("increments", [[1, 1, 1, 1], [2, 0, 5, 1], [12, 12, 12, 12]])
def test_the_updated_hessian_equals_the_rebuilt_one(increments):
    problem = quadratic(n=12)
    agents = problem.clients({})
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
    pairs = EigenPairs(problem.clients({}), H[None])
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


def test_the_channel_has_the_law_of_eq_38():
    agents = logistic().clients({})
    draws = np.concatenate([agents.increments("channel") for _ in range(5000)])
    gamma = -np.log1p(-(np.arange(200_000) + 0.5) / 200_000)  # quantiles of Exp(1)
    expected = np.floor(2 * np.log2(1 + 5 * gamma))
    assert draws.min() == 0
    assert draws.mean() == pytest.approx(expected.mean(), abs=0.05)
    assert expected.mean() < 4  # the text says 4 on average, and at most 10
    np.testing.assert_array_equal(agents.increments(3), [3, 3, 3, 3])


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


def test_pairs_of_a_renewal_start_from_those_before_it():
    """Mont-Dec's few pairs, found from the last round's, are those of the Hessian to second order."""
    problem = quadratic(n=60, sizes=(150, 200))
    agents, H = problem.clients({}), problem.costs.G
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
    before = EigenPairs(problem.clients({}), problem.costs.G)
    before.share(np.full(4, 11))
    again = EigenPairs(problem.clients({}), problem.costs.G, before=before)
    assert again.vectors is before.vectors
    assert again.sent.max() == 0


def test_the_compiled_gram_matrix_equals_the_plain_one():
    rng = np.random.default_rng(0)
    A = scipy.sparse.random_array((50, 17), density=0.2, rng=rng, format="csr")
    w, out = rng.random(50), np.empty((17, 17))
    gram(A.indptr, A.indices, A.data, w, out)
    np.testing.assert_allclose(out, gram_plain(A, w), atol=1e-14)
    np.testing.assert_array_equal(out, out.T)


def test_predictions_at_the_end_of_a_line_search_are_those_of_the_point():
    problem = logistic()
    agents = problem.clients({})
    x = problem.start
    for scale in (300.0, 1.0):
        g = agents.mean_gradient(x)
        p = scale * g
        x = x - armijo(agents, x, p, g, 0.3, 0.5) * p
        exact = problem.pooled.data.predict(x[None])
        np.testing.assert_allclose(problem.pooled.predictions(x), exact, atol=1e-13)
    elsewhere = x + 1.0
    exact = problem.pooled.data.predict(elsewhere[None])
    np.testing.assert_allclose(problem.pooled.predictions(elsewhere), exact, rtol=1e-13)


@pytest.mark.parametrize("rows", [1, 63, 64, 67, 130])
def test_a_compiled_full_step_equals_the_plain_one(rows):
    rng = np.random.default_rng(rows)
    A, p, w = rng.standard_normal((rows, 9)), rng.standard_normal(9), rng.random(rows)
    u, b = 3 * rng.standard_normal(rows), np.where(rng.random(rows) < 0.5, 1.0, -1.0)
    du, g = np.full(rows, np.nan), np.full(9, np.nan)
    full_step(A, b, w, u, p, du, g)
    for ours, plain in zip((du, g), full_step_plain(A, b, w, u, p), strict=True):
        np.testing.assert_allclose(ours, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_the_slope_after_a_line_search_is_that_of_the_point(scale):
    """Whether the full step was taken, whose slope the search has found, or a shorter one."""
    problem = logistic()
    agents, x = problem.clients({}), problem.start
    g = agents.mean_gradient(x)
    eta = armijo(agents, x, scale * g, g, 0.3, 0.5)
    assert (eta == 1.0) == (scale == 1.0)
    there = x - eta * scale * g
    fresh = logistic().clients({})
    np.testing.assert_allclose(agents.mean_gradient(there), fresh.mean_gradient(there), atol=1e-14)


def test_the_gap_is_the_difference_of_costs_and_sparse_equals_dense():
    problem = logistic()
    ref = problem.reference()
    x = ref["x"] + 0.1
    value = lambda x: float(problem.pooled.value(x[None])[0])  # noqa: E731
    assert problem.measure("gap", ref)(x) == pytest.approx(value(x) - value(ref["x"]), rel=1e-9)
    assert problem.measure("distance", ref)(x) == pytest.approx(0.1 * np.sqrt(8))
    A = problem.pooled.data.A[0]
    sparse = logistic_federation(
        scipy.sparse.csr_array(A), problem.pooled.b[0], np.array([30, 45, 60, 25]), 1e-2, 0
    )
    np.testing.assert_allclose(sparse.reference()["x"], ref["x"], atol=1e-12)
    np.testing.assert_allclose(
        sparse.costs.hessian(np.broadcast_to(x, (4, 8))),
        problem.costs.hessian(np.broadcast_to(x, (4, 8))),
        atol=1e-13,
    )


def test_confidently_wrong_predictions_do_not_break_the_line_search():
    """Where σ rounds to one the Bregman term must still be finite and the Armijo test fair."""
    problem = logistic()
    x = np.full(8, 60.0)
    agents = problem.clients({})
    g = agents.mean_gradient(x)
    f = lambda x: float(problem.pooled.value(x[None])[0])  # noqa: E731
    for eta in (1.0, 100.0, 1e4):
        assert agents.decrease(x, g, g, 20)(eta) == pytest.approx(f(x) - f(x - eta * g), rel=1e-9)


def test_the_spectrum_in_the_reference_is_the_weighted_mean():
    problem = quadratic()
    spectra = np.linalg.eigvalsh(problem.costs.G)[:, ::-1]
    np.testing.assert_allclose(problem.reference()["spectrum"], problem.weights @ spectra, rtol=1e-10)
