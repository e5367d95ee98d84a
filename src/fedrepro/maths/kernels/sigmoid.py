"""The slope of the logistic loss, for compiled loops; for arrays it is `losses.sigmoid`."""

from math import exp

from numba import njit


@njit(cache=True, inline="always")
def sigmoid(z):
    """1/(1 + exp(−z))."""
    return 1.0 / (1.0 + exp(-z))
