import numpy as np
import pytest
import scipy.sparse
from hinge_problems import unit_problem

from fedrepro.kernels import dual_ascent, local_sgd, scatter


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


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("rate", "ridge", "pull"), [(0.1, 0.01, 0.0), (0.5, 0.1, 1.2), (1.0, 0.5, 0.4)])
def test_descent_equals_its_twin(sparse, rate, ridge, pull):
    X, y = unit_problem()
    rng = np.random.default_rng(4)
    order, start, anchor = rng.integers(60, size=400), rng.standard_normal(12), rng.standard_normal(12)
    stored = scipy.sparse.csr_array(X) if sparse else X
    found = []
    for kernel in (local_sgd.descend, local_sgd.descend_plain):
        w = start.copy()
        kernel(stored, y, w, anchor, order, rate, ridge, pull)
        found.append(w)
    assert np.abs(found[0] - found[1]).max() < 1e-12
    assert np.abs(found[0] - start).max() > 0.01


def test_scattering_equals_its_twin():
    rng = np.random.default_rng(5)
    columns = np.sort(rng.permutation(40)[:15])
    found = []
    for add, average in ((scatter.add, scatter.average), (scatter.add_plain, scatter.average_plain)):
        total, count, w = np.zeros(40), np.zeros(40), np.ones(40)
        add(total, columns, np.arange(15.0))
        add(total, columns[5:], np.arange(10.0))
        add(count, columns, np.ones(15))
        add(count, columns[5:], np.ones(10))
        average(w, total, count)
        found.append(w)
    assert np.array_equal(*found)
    assert found[0][columns[6]] == (6 + 1) / 2 and (np.delete(found[0], columns) == 1).all()
