"""Small federations that several tests share."""

import numpy as np
from scipy import sparse

from fedrepro.experiments.problem import Problem
from fedrepro.experiments.reference import solve
from fedrepro.federation.clients import Clients
from fedrepro.maths.costs import LinearModels, Quadratics

SIZES = (7, 12, 9)  # unequal on purpose: shorter clients are padded
D = 4


def data(seed=0, sizes=SIZES, d=D, columns=None, x0=None):
    """Per-client designs, real responses, and ±1 labels (n,) or (n, columns)."""
    rng = np.random.default_rng(seed)
    x0 = rng.standard_normal(d) if x0 is None else x0
    A = [rng.standard_normal((n, d)) for n in sizes]
    b = [a @ x0 + 0.3 * rng.standard_normal(len(a)) for a in A]
    shape = lambda n: (n,) if columns is None else (n, columns)  # noqa: E731
    labels = [np.where(rng.random(shape(len(a))) < 0.5, 1.0, -1.0) for a in A]
    return A, b, labels


def least_squares(sparse_data=False, ridge=0.2):
    A, b, _ = data()
    return Quadratics.least_squares([sparse.csr_array(a) for a in A] if sparse_data else A, b, ridge=ridge)


def linear_model(loss="logistic", columns=None, sparse_data=False, ridge=0.2):
    A, b, labels = data(columns=columns)
    A = [sparse.csr_array(a) for a in A] if sparse_data else A
    return LinearModels(loss, A, b if loss == "least_squares" else labels, ridge=ridge)


COSTS = {
    "least squares": least_squares,
    "least squares, sparse": lambda: least_squares(sparse_data=True),
    "least squares, by rows": lambda: linear_model("least_squares"),
    "logistic": linear_model,
    "logistic, sparse": lambda: linear_model(sparse_data=True),
    "one-vs-all": lambda: linear_model(columns=3),
    "one-vs-all, sparse": lambda: linear_model(columns=3, sparse_data=True),
}


def federation(costs=None, start=None) -> Clients:
    costs = costs or least_squares()
    return Clients(costs, start, solve(costs, start).constants)


def quadratic_problem(m=3, seed=0, shared_minimiser=False, copies=False) -> Problem:
    """Least squares clients with different minimisers, one minimiser, or all the same client."""
    x0 = np.random.default_rng(seed).standard_normal(D)
    draws = [np.random.default_rng([seed, 0 if copies else j]) for j in range(m)]
    A = [rng.standard_normal((10, D)) for rng in draws]
    noise = 0.0 if shared_minimiser else 0.5
    b = [a @ x0 + noise * rng.standard_normal(10) for a, rng in zip(A, draws, strict=True)]
    return Problem(Quadratics.least_squares(A, b), np.zeros(D))
