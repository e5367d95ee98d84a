"""Choosing among competing aims: the Pareto front, and Gray relational analysis on it (Wang & Rangaiah 2017)."""

import numpy as np


def pareto_front(costs: np.ndarray) -> np.ndarray:
    """Indices of the rows no other row dominates; every column is to be small. Rows with a NaN never qualify."""
    costs = np.asarray(costs, float)
    no_worse = (costs[:, None] <= costs[None]).all(axis=2)
    better = (costs[:, None] < costs[None]).any(axis=2)
    dominated = (no_worse & better).any(axis=0)
    return np.flatnonzero(~dominated & np.isfinite(costs).all(axis=1))


def relational_grade(costs: np.ndarray, distinguishing: float = 1.0) -> np.ndarray:
    """Mean closeness of each row to the ideal point, columns scaled to [0, 1] over the rows given.

    A column's coefficient is (d_min + c d_max) / (d + c d_max), d the distance from the best of that column.
    """
    costs = np.asarray(costs, float)
    low, high = costs.min(axis=0), costs.max(axis=0)
    distance = (costs - low) / np.where(high > low, high - low, 1.0)
    top = distance.max()
    if top == 0:
        return np.ones(len(costs))
    return ((distance.min() + distinguishing * top) / (distance + distinguishing * top)).mean(axis=1)


def best_compromise(costs: np.ndarray) -> int:
    """The row of the front with the highest grade; the first of equals."""
    front = pareto_front(costs)
    if len(front) == 0:
        raise ValueError("nothing to choose from: every row has a value that is not finite")
    return int(front[np.argmax(relational_grade(np.asarray(costs, float)[front]))])
