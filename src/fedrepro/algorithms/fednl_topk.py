"""FedNL-LS with Top-k compression: the k largest entries of what is still to learn. Safaryan et al. 2021, Algorithm 3, C.1."""

from itertools import count
from typing import Literal

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.algorithms.fednl import projected_solve
from fedrepro.algorithms.parts.backtracking import armijo
from fedrepro.maths.domains import Count, Fraction


@algorithm(needs={"gradient", "hessian", "pooled", "vectors"})
def fednl_topk(agents, *, k: Count | Literal["n"] = "n", alpha: Fraction = 0.1, beta: Fraction = 0.5):
    """As `fednl`, whose agents send S_i = Top-k(∇²f_i(θ) − H_i), the k entries of the lower triangle that are largest.

    An entry travels with its place, both counted as floats. H_i⁰ = ∇²f_i(θ⁰) is sent in full, as n vectors. That the
    triangle is compressed, which keeps S_i symmetric, is how public code does it.
    """
    x = agents.start
    kept = min(agents.n if k == "n" else k, agents.n * (agents.n + 1) // 2)
    learned = np.array(agents.hessians(x))
    agents.send_vectors(agents.n)
    for t in count():
        agents.receive(x)
        g = agents.mean_gradient(x)
        p = projected_solve(np.tensordot(agents.weights, learned, axes=1), agents.constants["mu"], g)
        if t > 0:  # at θ⁰ nothing is left to learn, though a message is sent
            learned += top(agents.hessians(x) - learned, kept)
        agents.send_vectors(0, scalars=2 * agents.m * kept)
        x = x - armijo(agents, x, p, g, alpha, beta) * p
        yield x


def top(rest: np.ndarray, k: int) -> np.ndarray:
    """Of symmetric matrices, the k entries of the lower triangle that are largest, and their mirror images."""
    rows, columns = np.tril_indices(rest.shape[-1])
    entries = rest[:, rows, columns]
    if k < entries.shape[1]:
        small = np.argpartition(np.abs(entries), -k, axis=1)[:, :-k]
        np.put_along_axis(entries, small, 0.0, axis=1)
    kept = np.zeros_like(rest)
    kept[:, rows, columns] = kept[:, columns, rows] = entries
    return kept
