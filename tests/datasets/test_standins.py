"""Stand-ins: the real shapes, balance, sparsity and kind of spectrum, the same for the same seed."""

import numpy as np
import pytest
import scipy.sparse

from fedrepro.datasets import content_checksum, decode
from fedrepro.maths.seeds import stream
from fedrepro.pipeline.catalogue import declared

CHEAP = ("online-news", "w8a", "boston", "mushroom", "fmnist", "covtype", "msd")


@pytest.fixture(scope="module")
def made():
    """Each generator runs once for all tests of this module; the big image sets are dropped at once."""
    kept = {}

    def make(name: str, seed: int = 0):
        if (name, seed) not in kept:
            generator = decode.function_of(declared()["datasets"][name]["standin"]["generator"])
            kept[name, seed] = generator(stream(seed, "standin", name))
        return kept[name, seed]

    return make


@pytest.mark.parametrize("name", sorted(declared()["datasets"]))
def test_shape_and_balance_are_the_declared_ones(name):
    entry = declared()["datasets"][name]
    decoded = decode.function_of(entry["standin"]["generator"])(stream(0, "standin", name))
    decode.check(decoded, entry["standin"]["expect"], name)
    real = next(v for v in entry["variants"] if v["kind"] == "real")["expect"]
    for key in ("rows", "columns", "test_rows", "groups"):
        assert entry["standin"]["expect"].get(key) == real.get(key)
    if name == "news20":
        assert abs(decoded.X.nnz / real["nonzeros"] - 1) < 0.05
        counts = np.sort(np.bincount(decoded.X.indices, minlength=decoded.X.shape[1]))[::-1]
        assert counts[:1000].sum() > 0.2 * decoded.X.nnz  # Zipf: few words make up much of the text
        np.testing.assert_allclose(decoded.X.multiply(decoded.X).sum(axis=1), 1, rtol=1e-4)
    if name == "haxby":
        session = decoded.X[decoded.groups == 3]
        np.testing.assert_allclose(session.mean(0), 0, atol=1e-5)
        assert len(np.unique(decoded.extra["voxel"])) == 39_912
        neighbours = np.corrcoef(decoded.X[:, 20_000], decoded.X[:, 20_001])[0, 1]
        assert neighbours > 0.3  # smooth in space
    if name.startswith("femnist"):
        for part in (0, 1):
            assert len(np.unique(decoded.groups[decoded.split == part])) == real["groups"]


@pytest.mark.parametrize("name", CHEAP)
def test_the_same_seed_gives_the_same_bytes_and_another_does_not(made, name):
    again = decode.function_of(declared()["datasets"][name]["standin"]["generator"])(
        stream(0, "standin", name)
    )
    assert content_checksum(made(name)) == content_checksum(again)
    assert content_checksum(made(name)) != content_checksum(made(name, 1))


def accuracy_of_least_squares(X, y) -> float:
    """Of a linear classifier fitted on one half, on the other."""
    X = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X, float)
    A = np.hstack([(X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1), np.ones((len(X), 1))])
    half = len(A) // 2
    w = np.linalg.lstsq(A[:half].T @ A[:half] + 1e-3 * np.eye(A.shape[1]), A[:half].T @ y[:half], rcond=None)[
        0
    ]
    return float((np.sign(A[half:] @ w) == y[half:]).mean())


@pytest.mark.parametrize("name, positive", [("fmnist", 1), ("covtype", 2), ("mushroom", 1)])
def test_the_classes_can_be_learned_but_not_for_free(made, name, positive):
    decoded = made(name)
    X, y = decoded.X[:6000], np.where(decoded.y[:6000] == positive, 1.0, -1.0)
    better = accuracy_of_least_squares(X, y)
    chance = max((y > 0).mean(), (y < 0).mean())
    assert chance + 0.02 < better < 1


def test_msd_has_the_published_kind_of_spectrum(made):
    """The [0,1]-scaled Gram matrix / n: one large eigenvalue (the mean), then a long decay over two
    decades."""
    decoded = made("msd")
    X = decoded.X[:20_000].astype(float)
    Z = (X - X.min(0)) / (X.max(0) - X.min(0))
    values = np.linalg.eigvalsh(Z.T @ Z / len(Z))[::-1]
    assert 10 < values[0] < 30 and values[1] < 0.2 and 30 < values[1] / values[88] < 3000
    assert 1985 < decoded.y.mean() < 2003 and np.median(decoded.y) > decoded.y.mean()
    slope = np.linalg.lstsq(
        np.hstack([Z, np.ones((len(Z), 1))]), decoded.y[:20_000].astype(float), rcond=None
    )[1]
    assert slope[0] / len(Z) < decoded.y[:20_000].var()  # the year can be predicted a little
