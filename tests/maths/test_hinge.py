import numpy as np
import pytest
import scipy.sparse

from fedrepro.maths import hinge
from hinge_problems import unit_problem


def test_the_gap_is_certified_and_the_point_is_optimal():
    X, y = unit_problem()
    found = hinge.solve(X, y, 0.05)
    assert 0 <= found["primal"] - found["dual"] <= 1e-8
    rng = np.random.default_rng(0)
    for _ in range(50):  # no neighbour is better than the certificate allows
        near = found["w"] + 0.01 * rng.standard_normal(12)
        assert hinge.primal(X, y, 0.05, near) >= found["dual"]


def test_sparse_equals_dense():
    X, y = unit_problem()
    dense, sparse = hinge.solve(X, y, 0.05), hinge.solve(scipy.sparse.csr_array(X), y, 0.05)
    assert np.abs(dense["w"] - sparse["w"]).max() < 1e-10


def test_a_gap_not_reached_is_an_error():
    X, y = unit_problem()
    with pytest.raises(ArithmeticError, match="duality gap"):
        hinge.solve(X, y, 1e-4, epochs=2)
