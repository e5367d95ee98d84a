"""Many small positive definite systems side by side: one column per system, so that every operation runs over all
of them at once.

A system's matrix is the lower triangle row after row, entry (i, j) at i(i + 1)/2 + j; `M` is (d(d + 1)/2, P). A
matrix that is not positive definite gives NaN in its own column and leaves the others alone.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def factorise(M):
    """Replace every M by its Cholesky factor L, with 1/L_jj on the diagonal."""
    d, P = int(((8 * M.shape[0] + 1) ** 0.5 - 1) / 2 + 0.5), M.shape[1]
    for j in range(d):
        jj = j * (j + 1) // 2
        pivot = M[jj + j]
        for k in range(j):
            for p in range(P):
                pivot[p] -= M[jj + k, p] * M[jj + k, p]
        for p in range(P):
            pivot[p] = 1.0 / np.sqrt(pivot[p])
        for i in range(j + 1, d):
            ii = i * (i + 1) // 2
            entry = M[ii + j]
            for k in range(j):
                for p in range(P):
                    entry[p] -= M[ii + k, p] * M[jj + k, p]
            for p in range(P):
                entry[p] *= pivot[p]


@njit(cache=True)
def solve(L, r):
    """Replace the columns of r (d, P) by M⁻¹r, given what `factorise` left."""
    d, P = r.shape
    for i in range(d):
        ii = i * (i + 1) // 2
        for k in range(i):
            for p in range(P):
                r[i, p] -= L[ii + k, p] * r[k, p]
        for p in range(P):
            r[i, p] *= L[ii + i, p]
    for i in range(d - 1, -1, -1):
        ii = i * (i + 1) // 2
        for p in range(P):
            r[i, p] *= L[ii + i, p]
        for k in range(i):
            for p in range(P):
                r[k, p] -= L[ii + k, p] * r[i, p]
