"""FedNL-LS with rank-1 compression: learn the Hessian at the optimum. Safaryan et al. 2021, Algorithm 3."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, eigh
from scipy.linalg.blas import dger

from fedrepro.algorithms import algorithm
from fedrepro.algorithms.giant import newton
from fedrepro.algorithms.parts.backtracking import armijo
from fedrepro.maths.domains import Fraction, Positive
from fedrepro.maths.rank_one import compress


@algorithm(needs={"gradient", "hessian", "pooled", "vectors"})
def fednl(
    agents,
    *,
    alpha: Fraction = 0.1,
    beta: Fraction = 0.5,
    learning: Positive = 1.0,
    tolerance: Positive = 1e-3,
):
    """Agents learn H_i ← H_i + S_i, S_i the rank-1 compression of ∇²f_i(θ) − H_i, and send S_i's one vector.

    H_i⁰ = ∇²f_i(θ⁰) is sent in full and counted as n vectors. The master keeps H ⪰ μI by projection. Each
    iteration is two communication rounds, of which the second is the backtracking's.
    """
    x = agents.start
    learned = np.array(agents.hessians(x))
    agents.send_vectors(agents.n)
    H = np.tensordot(agents.weights, learned, axes=1)
    lowest = agents.constants["mu"]
    guess = np.ones((agents.m, agents.n))
    exact = True  # at θ⁰ nothing is left to compress, though a vector is sent
    while True:
        agents.receive(x)
        g = agents.mean_gradient(x)
        p = projected_solve(H, lowest, g)
        if not exact:
            H = H + learn(agents, agents.curvatures(x), learned, guess, learning, tolerance)
        exact = False
        agents.send_vectors(1, scalars=agents.m)
        x = x - armijo(agents, x, p, g, alpha, beta) * p
        yield x


def learn(agents, hessians, learned, guess, learning: float, tolerance: float) -> np.ndarray:
    """H_i ← H_i + S_i at every agent, in place; returns Σ_i p_i S_i, which the master adds to its H."""
    values, vectors = np.empty(agents.m), np.empty((agents.m, agents.n))
    for i in range(agents.m):
        values[i], vectors[i], guess[i] = compress(hessians[i], learned[i], guess[i], tolerance)
        values[i] *= learning
        dger(values[i], vectors[i], vectors[i], a=learned[i].T, overwrite_a=1)
    return (vectors.T * (agents.weights * values)) @ vectors


def projected_solve(H: np.ndarray, lowest: float, g: np.ndarray) -> np.ndarray:
    """[H]_μ⁻¹ g, where [H]_μ is the nearest matrix with eigenvalues at least μ (mostly H itself)."""
    try:
        cho_factor(
            (H - lowest * (1 - 1e-9) * np.eye(len(H))).T, lower=True, check_finite=False
        )  # H ⪰ μI already?
        return newton(H, g)
    except LinAlgError:
        values, vectors = eigh(H, check_finite=False)
        return vectors @ ((vectors.T @ g) / np.maximum(values, lowest))
