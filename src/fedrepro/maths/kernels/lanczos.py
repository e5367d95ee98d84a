"""Lanczos steps for the dominant eigenpair of AᵀCA + rI − B, compiled: what `maths.lanczos.dominant` does for any map, with
the few small products between two passes over A's rows left to compiled code."""

import numpy as np
from numba import njit

ROWS = 80  # that stay in the cache between two products


@njit(cache=True)
def dominant(A, c, ridge, B, start, tolerance, steps, check_every):
    """Whether it settled within `steps`; λ of largest magnitude, its unit eigenvector, and the next Ritz vector."""
    n = len(B)
    Q, T = np.empty((steps + 1, n)), np.zeros((steps + 1, steps + 1))
    Q[0] = start / np.sqrt(np.dot(start, start))
    for k in range(steps):
        w = ridge * Q[k] - np.dot(B, Q[k])
        for begin in range(0, len(A), ROWS):
            rows = A[begin : begin + ROWS]
            u = np.dot(rows, Q[k])
            u *= c[begin : begin + ROWS]
            w += np.dot(u, rows)
        basis = Q[: k + 1]
        along = np.dot(basis, w)
        w -= np.dot(along, basis)
        w -= np.dot(np.dot(basis, w), basis)
        T[k, k] = along[k]
        beta = np.sqrt(np.dot(w, w))
        if beta <= 1e-14 * np.abs(along).max():  # an invariant subspace: it may miss the dominant pair
            break
        if k > check_every and (k + 1) % check_every == 0:
            ritz, vectors = np.linalg.eigh(T[: k + 1, : k + 1].copy())
            top = 0 if -ritz[0] > ritz[-1] else k
            if beta * abs(vectors[k, top]) <= tolerance * abs(ritz[top]):
                second = np.argsort(-np.abs(ritz))[1]
                v = np.dot(vectors[:, top].copy(), basis)
                v /= np.sqrt(np.dot(v, v))
                return True, ritz[top], v, np.dot(vectors[:, second].copy(), basis)
        T[k, k + 1] = T[k + 1, k] = beta
        Q[k + 1] = w / beta
    return False, 0.0, Q[0], Q[0]
