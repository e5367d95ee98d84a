"""Fewer points for the same picture: what a screen cannot show is left out."""

import numpy as np


def kept(x: np.ndarray, y: np.ndarray, tolerance: float) -> np.ndarray:
    """Which points of a line to keep so that none that is left out lies farther from it than the tolerance.

    Douglas & Peucker 1973; both coordinates in the units of the tolerance.
    """
    return weights(x, y, tolerance) > 0


def weights(x: np.ndarray, y: np.ndarray, tolerance: float) -> np.ndarray:
    """For every point the tolerance up to which it has to be kept, infinite at the ends, 0 for those below `tolerance`."""
    found = np.zeros(len(x))
    if not len(x):
        return found
    found[[0, -1]] = np.inf
    spans = [(0, len(x) - 1, np.inf)]
    while spans:
        first, last, above = spans.pop()
        if last - first < 2:
            continue
        away = distances(x[first + 1 : last], y[first + 1 : last], x[first], y[first], x[last], y[last])
        farthest = int(np.argmax(away))
        if away[farthest] > tolerance:
            middle = first + 1 + farthest
            found[middle] = min(above, away[farthest])  # no later than the point that made it an end
            spans += [(first, middle, found[middle]), (middle, last, found[middle])]
    return found


def distances(x, y, x0, y0, x1, y1) -> np.ndarray:
    """Of points to a segment."""
    dx, dy = x1 - x0, y1 - y0
    length = dx * dx + dy * dy
    along = np.clip(((x - x0) * dx + (y - y0) * dy) / length, 0.0, 1.0) if length > 0 else 0.0
    return np.hypot(x - x0 - along * dx, y - y0 - along * dy)
