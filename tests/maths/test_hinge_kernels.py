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
    total, count, w = np.zeros(40), np.zeros(40), np.ones(40)
    scatter.add(total, columns, np.arange(15.0))
    scatter.add(total, columns[5:], np.arange(10.0))
    scatter.add(count, columns, np.ones(15))
    scatter.add(count, columns[5:], np.ones(10))
    scatter.average(w, total, count)
    expected = np.arange(15.0)
    expected[5:] = (expected[5:] + np.arange(10.0)) / 2
    np.testing.assert_array_equal(w[columns], expected)
    assert (np.delete(w, columns) == 1).all()
