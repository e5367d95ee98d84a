"""Which points of a line a picture needs: Douglas & Peucker 1973, compiled."""

import math

import numpy as np
from numba import njit


@njit(cache=True)
def weights(x, y, tolerance):
    """For every point the tolerance up to which it has to be kept, infinite at the ends, 0 for those below `tolerance`."""
    n = len(x)
    found = np.zeros(n)
    if n == 0:
        return found
    found[0] = found[n - 1] = np.inf
    spans = np.empty((n + 1, 2), np.int64)
    above = np.empty(n + 1)
    spans[0, 0], spans[0, 1], above[0] = 0, n - 1, np.inf
    waiting = 1
    while waiting:
        waiting -= 1
        first, last, most = spans[waiting, 0], spans[waiting, 1], above[waiting]
        dx, dy = x[last] - x[first], y[last] - y[first]
        length = dx * dx + dy * dy
        farthest, middle = tolerance, -1
        for i in range(first + 1, last):
            ex, ey = x[i] - x[first], y[i] - y[first]
            along = min(max((ex * dx + ey * dy) / length, 0.0), 1.0) if length > 0 else 0.0
            away = math.hypot(ex - along * dx, ey - along * dy)
            if away > farthest:
                farthest, middle = away, i
        if middle >= 0:
            found[middle] = min(most, farthest)  # no later than the point that made it an end
            spans[waiting, 0], spans[waiting, 1], above[waiting] = first, middle, found[middle]
            spans[waiting + 1, 0], spans[waiting + 1, 1], above[waiting + 1] = middle, last, found[middle]
            waiting += 2
    return found
