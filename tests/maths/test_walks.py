"""Every compiled loop equals its plain NumPy twin to 1e-12."""

import numpy as np
import pytest

from fedrepro.federation.cohorts import Sampling
from fedrepro.maths.kernels import linear, shrinkage, softmax
from fedrepro.maths.mirrors import Euclidean
from fedrepro.maths.models.images import Dense
from fedrepro.maths.models.linear import LinearModel
from fedrepro.maths.models.network import Network
from fedrepro.maths.proxes import L1, L1Ball, L2Ball, Nuclear, OnBlocks, Zero, project_l1_ball

D = 36
PENALTIES = [None, L1(0.05), Nuclear(0.05, (6, 6)), L1Ball(2.0), L2Ball(0.7)]


def model(loss, dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((70, D)).astype(dtype)
    y = X[:, :5].sum(axis=1) + rng.standard_normal(70)
    return LinearModel(loss, X, y if loss == "squared" else (y > 0).astype(float)), rng.standard_normal(D + 1)


OFFSETS = np.array([0, 17, 30, 53, 70])  # unequal clients: the last batch is smaller


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("psi", PENALTIES, ids=str)
@pytest.mark.parametrize("mode", [linear.DESCENT, linear.LAZY, linear.SUBGRADIENT])
@pytest.mark.parametrize("batch", [4, 1])
def test_linear_walk_equals_its_twin(loss, psi, mode, batch):
    if mode == linear.SUBGRADIENT and isinstance(psi, L1Ball | L2Ball):
        pytest.skip("a constraint has no subgradients to step along")
    held, start = model(loss, np.float32)
    mirror = Euclidean(Zero() if psi is None else OnBlocks(psi, (slice(0, D),)))
    visit = Sampling(OFFSETS, 3, batch, epochs=2, seed=5).draw(0)
    double = LinearModel(loss, held.X.astype(float), held.y)
    compiled = mode != linear.SUBGRADIENT or isinstance(
        psi, L1
    )  # else the model takes the plain way by itself
    out = (held if compiled else double).walk(mode, mirror, visit, batch, start, 0.01, 0.3)
    plain = np.empty_like(out)
    linear.walk_plain(
        double.gradient, mirror, mode, visit.rows, visit.lengths, batch, start, 0.01, 0.3, plain
    )
    assert np.abs(plain - start).max() > 1e-3
    np.testing.assert_allclose(out, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [200, 5000])  # within one chunk of the sums, and over several
def test_compiled_l1_projection_is_the_sorted_one(size):
    rng = np.random.default_rng(2)
    for radius in (0.5, 3.0, 1e3):
        v = rng.standard_normal(size) * np.exp(rng.standard_normal(size))
        w = v.copy()
        shrinkage.l1_ball(w, radius)
        np.testing.assert_allclose(w, project_l1_ball(v, radius), atol=1e-12)
        for guess in (0.0, 1e-3, 0.7, 1e6):  # on either side of the threshold, and beyond all entries
            theta = shrinkage.l1_ball_near(v, radius, guess, w)
            np.testing.assert_allclose(w, project_l1_ball(v, radius), atol=1e-12)
        assert theta == guess or np.abs(v).sum() > radius


def test_compiled_l1_projection_in_single_precision_ends_and_stays_put():
    """On the sphere, where rounding decides which entries are above the threshold."""
    rng = np.random.default_rng(3)
    w = rng.standard_normal(150_000).astype(np.float32)
    for _ in range(20):
        w += np.float32(1e-4) * rng.standard_normal(w.size).astype(np.float32)
        shrinkage.l1_ball(w, 1000.0)
        assert np.abs(w.astype(float)).sum() == pytest.approx(1000.0, rel=1e-4)


def test_compiled_thresholding_handles_rank_deficiency():
    """A matrix that is already of low rank: some singular values are zero up to rounding."""
    rng = np.random.default_rng(4)
    V = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 6))
    w = V.ravel().copy()
    shrinkage.threshold(w, 0.2, 6)
    np.testing.assert_allclose(w, Nuclear(1.0, (6, 6)).prox(V.ravel(), 0.2), atol=1e-12)
    assert np.linalg.matrix_rank(w.reshape(6, 6), tol=1e-9) <= 2


@pytest.mark.parametrize("side", [1, 2, 3, 32, 33])  # the last: more than one block of columns
def test_eigenpairs_against_lapack(side):
    rng = np.random.default_rng(side)
    repeated = np.repeat(rng.standard_normal(-(-side // 2)), 2)[:side]  # eigenvalues that come in pairs
    Q = np.linalg.qr(rng.standard_normal((side, side)))[0]
    for G in (rng.standard_normal((side, side)), (Q * repeated) @ Q.T, np.diag(repeated)):
        G = G + G.T
        values, Z = shrinkage.eigenpairs(G.copy())
        np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(G), atol=1e-13)
        np.testing.assert_allclose(Z @ Z.T, np.eye(side), atol=1e-13)
        np.testing.assert_allclose((Z.T * values) @ Z, G, atol=1e-12)


def test_eigenpairs_above_a_floor():
    """What lies above is found as before; what lies below is left together, orthogonal to it."""
    G = np.random.default_rng(5).standard_normal((32, 32))
    G = G @ G.T
    true = np.linalg.eigvalsh(G)
    floor = 0.5 * (true[23] + true[24])
    values, Z = shrinkage.eigenpairs(G.copy(), floor)
    kept = values > floor
    assert kept.sum() == 8
    np.testing.assert_allclose(np.sort(values[kept]), true[24:], rtol=1e-12)
    np.testing.assert_allclose(G @ Z[kept].T, Z[kept].T * values[kept], atol=1e-11)
    np.testing.assert_allclose(Z @ Z.T, np.eye(32), atol=1e-12)


def test_eigenpairs_above_a_floor_that_is_an_eigenvalue():
    """Rounding may put that one on either side, but it must not take the place of a larger one."""
    rng = np.random.default_rng(11)
    for _ in range(100):
        Q = np.linalg.qr(rng.standard_normal((12, 12)))[0]
        true = np.sort(rng.random(12))
        true[4:6] = floor = true[5]
        values, Z = shrinkage.eigenpairs((Q * true) @ Q.T, floor, floor * (1 + 1e-12))
        np.testing.assert_allclose(np.sort(values), true[6:], atol=1e-14)
        np.testing.assert_allclose((Q * true) @ Q.T @ Z.T, Z.T * values, atol=1e-13)


def test_thresholding_all_of_a_matrix_away():
    w = np.random.default_rng(12).standard_normal(36)
    shrinkage.threshold(w, 1e3, 6)
    assert not w.any()


def test_thresholding_matrices_of_all_ranks_and_scales():
    """Noise of every size on matrices of every rank: the rotations end, and the error is that of the Gram matrix."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        rank, scale, t = rng.integers(0, 33), 10.0 ** rng.uniform(-6, 6), 10.0 ** rng.uniform(-4, 0)
        noise = 10.0 ** rng.uniform(-17, 0) * rng.standard_normal((32, 32))
        V = scale * (np.diag((np.arange(32) < rank).astype(float)) + noise)
        w = V.ravel().copy()
        shrinkage.threshold(w, scale * t, 32)
        wrong = np.abs(w - Nuclear(1.0, (32, 32)).prox(V.ravel(), scale * t)).max() / scale
        assert wrong <= 1e-14 * np.linalg.norm(V / scale, 2) ** 2 / t + 1e-14


def test_thresholding_a_diverged_matrix_ends():
    v = np.full(36, 1e200)
    shrinkage.threshold(v, 0.2, 6)
    assert np.isnan(v).all()


def digits(psi, dtype=float):
    """Logistic regression over three classes, its mirror, a start and a visit of clients."""
    rng = np.random.default_rng(6)
    X = rng.random((70, D)) * (rng.random((70, D)) < 0.4)  # many pixels are zero
    held = Dense(X.astype(dtype), rng.integers(0, 3, 70), (D, 3))
    mirror = Euclidean(Zero() if psi is None else OnBlocks(psi, held.kernels))
    return (
        held,
        mirror,
        0.1 * rng.standard_normal(held.size),
        Sampling(OFFSETS, 3, batch=4, epochs=2, seed=5).draw(0),
    )


BALLS = [
    None,
    L1Ball(2.0),
    L1Ball(8.0),
    L2Ball(0.7),
    L2Ball(0.95),
]  # that bind never, at once, and on the way


@pytest.mark.parametrize("psi", BALLS, ids=str)
@pytest.mark.parametrize("mode", [linear.DESCENT, linear.LAZY])
@pytest.mark.parametrize("spanned", [softmax.SPANNED, ()], ids=["span", "weights"])
def test_softmax_walk_equals_its_twin(psi, mode, spanned, monkeypatch):
    """In the span of a client's examples, as these clients' steps are taken, and through the weights."""
    monkeypatch.setattr(softmax, "SPANNED", spanned)
    held, mirror, start, visit = digits(psi)
    out = held.walk(mode, mirror, visit, 4, start, 0.1, 0.3)
    assert bool(held.grams) == bool(spanned)
    plain = np.empty_like(out)
    linear.walk_plain(held.gradient, mirror, mode, visit.rows, visit.lengths, 4, start, 0.1, 0.3, plain)
    np.testing.assert_allclose(out, plain, rtol=1e-12, atol=1e-12)


def test_the_balls_on_the_way_bind_on_the_way():
    for ball in (BALLS[2], BALLS[4]):
        held, mirror, start, visit = digits(ball)
        free = held.walk(linear.LAZY, mirror.smooth, visit, 4, start, 0.1, 0.3)
        norms = [ball.norm(p[held.kernels[0]]) for p in (start, *free)]
        assert norms[0] < ball.strength < max(norms)


@pytest.mark.parametrize("psi", BALLS, ids=str)
def test_softmax_in_single_precision_stays_close_to_double(psi):
    a, b = (
        held.walk(linear.DESCENT, mirror, visit, 4, start, 0.1, 0.3)
        for held, mirror, start, visit in (digits(psi), digits(psi, np.float32))
    )
    assert b.dtype == np.float32
    np.testing.assert_allclose(b, a, atol=1e-5)


@pytest.mark.parametrize("psi", [None, L1(0.05), L1Ball(2.0), L1Ball(60.0), L2Ball(0.7)], ids=str)
@pytest.mark.parametrize("mode", [linear.DESCENT, linear.LAZY])
@pytest.mark.parametrize("kind", [Network, Dense])
def test_network_walk_equals_its_twin(psi, mode, kind):
    rng = np.random.default_rng(9)
    X = rng.random((70, D)) * (rng.random((70, D)) < 0.4)  # many pixels are zero
    held = kind(X, rng.integers(0, 3, 70), (D, 8, 7, 3))
    start = rng.standard_normal(held.size)
    mirror = Euclidean(Zero() if psi is None else OnBlocks(psi, held.kernels))
    visit = Sampling(OFFSETS, 3, batch=4, epochs=2, seed=5).draw(0)
    out = held.walk(mode, mirror, visit, 4, start, 0.1, 0.3)
    plain = np.empty_like(out)
    linear.walk_plain(held.gradient, mirror, mode, visit.rows, visit.lengths, 4, start, 0.1, 0.3, plain)
    assert np.abs(plain - start).max() > 1e-2
    np.testing.assert_allclose(out, plain, rtol=1e-12, atol=1e-12)


def test_what_is_no_number_goes_through_a_network():
    rng = np.random.default_rng(9)
    held = Network(rng.random((70, D)), rng.integers(0, 3, 70), (D, 8, 7, 3))
    start = rng.standard_normal(held.size)
    start[held.kernels[0]] = np.nan
    visit = Sampling(OFFSETS, 3, batch=4, epochs=2, seed=5).draw(0)
    out = held.walk(linear.DESCENT, Euclidean(OnBlocks(L1Ball(2.0), held.kernels)), visit, 4, start, 0.1, 0.3)
    assert np.isnan(out).all()


def test_network_in_single_precision_stays_close_to_double():
    rng = np.random.default_rng(10)
    X, y = rng.random((70, D)), rng.integers(0, 3, 70)
    double, single = Network(X, y, (D, 8, 7, 3)), Network(X.astype(np.float32), y, (D, 8, 7, 3))
    start = rng.standard_normal(double.size)
    mirror = Euclidean(OnBlocks(L1Ball(2.0), double.kernels))
    visit = Sampling(OFFSETS, 3, batch=4, epochs=2, seed=5).draw(0)
    a, b = (m.walk(linear.LAZY, mirror, visit, 4, start, 0.1, 0.3) for m in (double, single))
    assert b.dtype == np.float32
    np.testing.assert_allclose(b, a, atol=1e-4)


def test_network_gradient_is_the_derivative_of_its_loss():
    rng = np.random.default_rng(8)
    held = Dense(rng.random((12, 5)), rng.integers(0, 3, 12), (5, 4, 4, 3))
    p = rng.standard_normal(held.size)
    g = held.gradient(p, slice(None))
    for j in rng.choice(held.size, 20, replace=False):
        e = np.zeros(held.size)
        e[j] = 1e-6
        slope = (held.value(p + e, held.X, held.y) - held.value(p - e, held.X, held.y)) / 2e-6
        assert slope == pytest.approx(g[j], abs=1e-7)
