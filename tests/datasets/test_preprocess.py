"""The papers' preprocessing, against plain linear algebra."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedrepro.datasets import DataError, Dataset, mushroom, preprocess
from fedrepro.maths.seeds import stream

TABLES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 20), st.integers(1, 6)), elements=st.floats(-1e6, 1e6)
)


@given(TABLES)
def test_unit_interval_reaches_both_ends_of_every_column(X):
    Z = preprocess.unit_interval(X)
    assert (Z >= 0).all() and (Z <= 1).all()
    varied = X.max(0) > X.min(0)
    assert (Z.min(0) == 0).all() and (Z.max(0)[varied] == 1).all() and (Z[:, ~varied] == 0).all()


def test_unit_interval_of_test_rows_uses_the_training_extremes():
    assert preprocess.unit_interval(np.array([[3.0]]), np.array([[0.0], [2.0]]))[0, 0] == 1.5


@pytest.mark.parametrize("centre", [True, False])
def test_pca_agrees_with_the_singular_value_decomposition(centre):
    X = np.random.default_rng(0).integers(0, 256, (300, 12), dtype=np.uint8)
    pca = preprocess.fit_pca(X, 5, centre, slice_rows=70)
    Z = X / 255 - (X.mean(0) / 255 if centre else 0)
    _, singular, Vt = np.linalg.svd(Z, full_matrices=False)
    np.testing.assert_allclose(pca.spectrum, singular[:5] ** 2 / 300, rtol=1e-8)
    np.testing.assert_allclose(np.abs((pca.basis * Vt[:5].T).sum(0)), 1, rtol=1e-8)
    np.testing.assert_allclose(pca.basis.T @ pca.basis, np.eye(5), atol=1e-12)
    scores = pca.apply(X / 255)
    assert (abs(scores.mean(0)) < 1e-12).all() == centre
    assert (pca.basis[np.abs(pca.basis).argmax(0), range(5)] > 0).all()


def test_pca_is_stored_with_the_data_it_was_fitted_on(tmp_path):
    X = np.random.default_rng(0).integers(0, 256, (50, 8), dtype=np.uint8)
    dataset = Dataset("toy", "toy", X, X[:, 0], None, None, "standin", "a" * 64)
    with pytest.raises(DataError, match="snakemake"):
        preprocess.load_pca(dataset, True, tmp_path)
    path = preprocess.pca_path("toy", True, tmp_path)
    path.parent.mkdir(parents=True)
    pca = preprocess.fit_pca(X, 3, True)
    preprocess.save_pca(pca, path, dataset.checksum)
    np.testing.assert_array_equal(preprocess.load_pca(dataset, True, tmp_path).basis, pca.basis)
    changed = Dataset(**{**dataset.__dict__, "checksum": "b" * 64})
    with pytest.raises(DataError, match="other data"):
        preprocess.load_pca(changed, True, tmp_path)
    with pytest.raises(DataError, match="9 principal"):
        preprocess.fit_pca(X, 9, True)


def test_mushroom_one_hot_has_the_papers_99_columns():
    """The stand-in has the real number of letters per attribute: 117 in all rows, 98 in complete ones."""
    decoded = mushroom.standin(stream(0, "test"))
    complete = preprocess.without_missing(decoded.X, mushroom.MISSING)
    assert len(complete) == 5644
    assert preprocess.with_ones(preprocess.one_hot(decoded.X)).shape == (8124, 118)
    assert preprocess.with_ones(preprocess.one_hot(decoded.X[complete])).shape == (5644, 99)


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 15), st.integers(1, 5)), elements=st.integers(97, 101)))
def test_one_hot_marks_one_value_per_attribute(X):
    Z = preprocess.one_hot(X)
    assert set(np.unique(Z)) <= {0.0, 1.0} and (Z.sum(1) == X.shape[1]).all()
    assert (Z.sum(0) > 0).all()


@given(TABLES)
def test_unit_rows_dense_equals_sparse(X):
    dense = preprocess.unit_rows(X)
    sparse = preprocess.unit_rows(scipy.sparse.csr_array(X))
    np.testing.assert_allclose(sparse.toarray(), dense, rtol=1e-12, atol=1e-300)
    lengths = np.sqrt((dense**2).sum(1))
    tiny = np.abs(X).max(1) < 1e-150  # their squares underflow
    assert (np.isclose(lengths, 1) | tiny).all()


def test_signs():
    assert preprocess.signs(np.array([3, 1, 3]), 3).tolist() == [1, -1, 1]
