"""The problems of Dal Fabbro et al.: gaps, sparse designs, spectra."""

import numpy as np
import pytest
import scipy.sparse

from fedrepro.papers.shed.problems import logistic_federation
from shed_federations import logistic, quadratic


def test_the_gap_is_the_difference_of_costs_and_sparse_equals_dense():
    problem = logistic()
    ref = problem.reference()
    x = ref.optimum + 0.1
    value = lambda x: float(problem.pooled.value(x[None])[0])  # noqa: E731
    assert problem.measure("gap", ref)(x, None) == pytest.approx(value(x) - value(ref.optimum), rel=1e-9)
    assert problem.measure("distance", ref)(x, None) == pytest.approx(0.1 * np.sqrt(8))
    A = problem.pooled.data.A[0]
    sparse = logistic_federation(
        scipy.sparse.csr_array(A), problem.pooled.b[0], np.array([30, 45, 60, 25]), 1e-2, 0
    )
    np.testing.assert_allclose(sparse.reference().optimum, ref.optimum, atol=1e-12)
    np.testing.assert_allclose(
        sparse.costs.hessian(np.broadcast_to(x, (4, 8))),
        problem.costs.hessian(np.broadcast_to(x, (4, 8))),
        atol=1e-13,
    )


def test_the_spectrum_in_the_reference_is_the_weighted_mean():
    problem = quadratic()
    spectra = np.linalg.eigvalsh(problem.costs.G)[:, ::-1]
    np.testing.assert_allclose(problem.reference().facts["spectrum"], problem.weights @ spectra, rtol=1e-10)
