"""Small consensus problems and their clients, after Niu & Wei."""

import numpy as np

from fedrepro.federation.primal_dual import PrimalDualClients
from fedrepro.maths.columns import ColumnLogistic, ColumnQuadratics

N, D = 5, 3


def quadratics(seed=0, n=N, d=D):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, 2 * d, d)) * rng.uniform(0.5, 2.0, (n, 1, 1))
    b = rng.standard_normal((n, 2 * d))
    return ColumnQuadratics.least_squares(list(A), list(b), weights=np.full(n, 0.5 / d), ridge=0.1)


def logistic(seed=0, n=N, d=D):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 30, n)
    A = [rng.standard_normal((k, d)) for k in sizes]
    b = [np.where(rng.random(k) < 0.5, 1.0, -1.0) for k in sizes]
    return ColumnLogistic(A, b, [np.full(k, 1.0 / k) for k in sizes], ridge=0.2)


def federation(costs, order=None, start=None):
    order = np.arange(costs.m) if order is None else order
    high = costs.bounds()[1]
    return PrimalDualClients(costs, start, {"order": order, "high": high, "low": costs.bounds()[0]})
