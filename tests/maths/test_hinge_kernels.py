import numpy as np
import pytest
import scipy.sparse

from fedrepro.maths.kernels import dual_ascent, local_sgd, scatter
from hinge_problems import unit_problem


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("sigma", [1.0, 3.0])
def test_ascent_equals_its_twin(sparse, sigma):
    X, y = unit_problem()
    X[7] = 0.0  # an empty row
    order = np.random.default_rng(2).permutation(60)
    offset = np.random.default_rng(3).standard_normal(60)
    square = (X * X).sum(axis=1)
    stored = scipy.sparse.csr_array(X) if sparse else X
    found = []
    for kernel in (dual_ascent.ascend, dual_ascent.ascend_plain):
        alpha, v = np.zeros(60), np.zeros(12)
        kernel(stored, y, alpha, offset, square, order, 3.0, sigma, v)
        found.append((alpha, v))
    assert np.abs(found[0][0] - found[1][0]).max() < 1e-12
    assert np.abs(found[0][1] - found[1][1]).max() < 1e-12
    assert np.all((y * found[0][0] >= 0) & (y * found[0][0] <= 1)) and found[0][0][7] == y[7]
    assert np.abs(found[0][1]).max() > 0.01


def descend_plain(X, y, w, anchor, order, rate, ridge, pull) -> None:
    """The definition, step by step."""
    for i in order:
        row = X[i] if isinstance(X, np.ndarray) else X[[i]].toarray()[0]
        slope = -y[i] * row if y[i] * (row @ w) < 1 else 0.0
        w -= rate * (ridge * w + pull * (w - anchor) + slope)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("rate", "ridge", "pull"), [(0.1, 0.01, 0.0), (0.5, 0.1, 1.2), (1.0, 0.5, 0.4)])
def test_descent_equals_its_twin(sparse, rate, ridge, pull):
    X, y = unit_problem()
    rng = np.random.default_rng(4)
    order, start, anchor = rng.integers(60, size=400), rng.standard_normal(12), rng.standard_normal(12)
    stored = scipy.sparse.csr_array(X) if sparse else X
    found = []
    for kernel in (local_sgd.descend, descend_plain):
        w = start.copy()
        kernel(stored, y, w, anchor, order, rate, ridge, pull)
        found.append(w)
    assert np.abs(found[0] - found[1]).max() < 1e-12
    assert np.abs(found[0] - start).max() > 0.01


def test_scattering_averages_what_was_sent_and_leaves_the_rest():
    columns = np.sort(np.random.default_rng(5).permutation(40)[:15])
    total, count, before = np.zeros(40), np.zeros(40, np.int32), np.ones(40)
    scatter.add(total, columns, np.arange(15.0), count)
    scatter.add(total, columns[5:], np.arange(10.0), count)
    w = scatter.average(before, total, count)
    assert not total.any() and not count.any() and (before == 1).all()
    expected = np.arange(15.0)
    expected[5:] = (expected[5:] + np.arange(10.0)) / 2
    np.testing.assert_array_equal(w[columns], expected)
    assert (np.delete(w, columns) == 1).all()


def test_replacing_a_part_is_adding_its_change():
    rng = np.random.default_rng(6)
    columns, old, new, weight = rng.permutation(40)[:15], *rng.standard_normal((2, 15)), rng.random(15) + 1
    total = np.ones(40)
    scatter.replace(total, columns, old, new, weight)
    expected = np.ones(40)
    expected[columns] += (new - old) / weight
    np.testing.assert_array_equal(total, expected)


def test_rows_are_added_with_their_weights():
    rng = np.random.default_rng(7)
    X = scipy.sparse.random_array((30, 12), density=0.3, rng=rng, format="csr")
    rows, values, total = np.array([3, 4, 29]), rng.standard_normal(3), np.ones(12)
    scatter.add_rows(total, X.data, X.indices, X.indptr, rows, values)
    assert np.abs(total - 1 - X[rows].T @ values).max() < 1e-14
