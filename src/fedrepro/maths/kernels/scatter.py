"""Adding a client's vector to the server's at the features the client holds, which are distinct, and rows to a vector.

NumPy's `total[columns] += values` gathers, adds and scatters in three passes; these take one.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def replace(total, columns, old, new, weight):
    """total[columns] += (new - old) / weight, the last a number for every feature."""
    for j in range(len(columns)):
        total[columns[j]] += (new[j] - old[j]) / weight[j]


@njit(cache=True)
def add(total, columns, values, count):
    """total[columns] += values, and count[columns] += 1."""
    for j in range(len(columns)):
        total[columns[j]] += values[j]
        count[columns[j]] += 1


@njit(cache=True)
def average(w, total, count):
    """total / count where anybody counted, elsewhere w; `total` and `count` are emptied."""
    new = np.empty_like(w)
    for j in range(len(w)):
        if count[j] > 0:
            new[j] = total[j] / count[j]
            total[j], count[j] = 0.0, 0
        else:
            new[j] = w[j]
    return new


@njit(cache=True)
def add_rows(total, data, indices, indptr, rows, values):
    """total += X[rows].T @ values for a CSR matrix X."""
    for r in range(len(rows)):
        for j in range(indptr[rows[r]], indptr[rows[r] + 1]):
            total[indices[j]] += values[r] * data[j]
