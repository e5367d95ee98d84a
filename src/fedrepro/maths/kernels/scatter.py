"""Adding a client's vector to the server's at the features the client holds, which are distinct.

NumPy's `total[columns] += values` gathers, adds and scatters in three passes; these take one.
"""

from numba import njit


@njit(cache=True)
def add(total, columns, values):
    """total[columns] += values."""
    for j in range(len(columns)):
        total[columns[j]] += values[j]


@njit(cache=True)
def average(w, total, count):
    """w <- total / count where anybody counted; elsewhere w stays."""
    for j in range(len(w)):
        if count[j] > 0.0:
            w[j] = total[j] / count[j]
