"""Grid search in which all grid points advance together, one column each, with the same budget for every method.

Runs are scored by how fast the gap decays, and must still be decaying at the end: the lowest final gap may
belong to a run that is about to diverge.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FLOOR = 1e-12  # of the starting gap; below it a run has arrived
ZOOMS = 3
MOST_LEVELS = 64
CHUNK = 64  # columns that advance in one call: their stacks stay in cache


@dataclass(frozen=True)
class Budget:
    """What every method may spend: grid points, and rounds of each."""

    points: int
    rounds: int
    score: str = "decay"  # or final: the lowest gap at the last round


def search(gaps: Callable[[dict, int], np.ndarray], ranges: dict[str, list], budget: Budget) -> dict:
    """The best grid point. `gaps(columns, rounds)` runs the columns: (rounds + 1, P).

    A grid over the whole ranges, even in the logarithm, then up to ZOOMS grids of three levels around the best point
    so far, each half as wide as the one before; together at most `budget.points` points, whatever the method.
    """
    names = list(ranges)
    low, high = (np.log10([ranges[n][i] for n in names]) for i in (0, 1))
    zooms = min(ZOOMS, budget.points // 2 // 3 ** len(names))
    count = levels(budget.points - zooms * 3 ** len(names), len(names))
    points, width = lattice(low, high, count), (high - low) / (count - 1)
    best, top = low, -np.inf
    for _ in range(zooms + 1):
        score = race(gaps, names, points, budget)
        if score.max() > top:
            best, top = points[np.argmax(score)], float(score.max())
        width = width / 2.0
        points = np.clip(lattice(best - width, best + width, 3), low, high)
    return dict(zip(names, (10.0**best).tolist(), strict=True))


def levels(points: int, dimensions: int) -> int:
    """How many levels per parameter a full grid of at most `points` points can have; more than MOST_LEVELS would
    tell a single parameter nothing new."""
    return min(MOST_LEVELS, max(2, int(points ** (1.0 / dimensions) + 1e-9)))


def lattice(low, high, count) -> np.ndarray:
    return np.array(
        list(itertools.product(*(np.linspace(a, b, count) for a, b in zip(low, high, strict=True))))
    )


def race(gaps, names, points, budget: Budget) -> np.ndarray:
    """Scores of grid points: all run an eighth of the rounds, the better quarter of them half of the rounds, and
    the better quarter of those the whole. Whoever drops out scores minus infinity."""
    stay = np.arange(len(points))
    for share in (8, 2, 1):
        score = np.full(len(points), -np.inf)
        score[stay] = run(gaps, names, points[stay], max(4, budget.rounds // share), budget.score)
        kept = np.argsort(-score, kind="stable")[: max(1, len(stay) // 4)]
        stay = np.sort(kept)
    return score


def run(gaps, names, points, rounds, score) -> np.ndarray:
    out = []
    with np.errstate(all="ignore"):
        for start in range(0, len(points), CHUNK):
            part = 10.0 ** points[start : start + CHUNK]
            out.append(SCORES[score](gaps(dict(zip(names, part.T, strict=True)), rounds)))
    return np.concatenate(out)


def decay(gaps: np.ndarray) -> np.ndarray:
    """Decades a round that the gap falls: by its highest value in the last quarter, or until it has arrived.

    A run that is higher in the last quarter than in the one before is not decaying: minus infinity.
    """
    relative = np.where(np.isfinite(gaps), gaps, np.inf) / gaps[0]
    rounds = len(gaps) - 1
    quarter = max(1, rounds // 4)
    last, before = relative[-quarter:].max(axis=0), relative[-2 * quarter : -quarter].max(axis=0)
    rate = -np.log10(np.maximum(last, FLOOR)) / rounds
    arrived = last <= FLOOR
    there = np.argmax(relative <= FLOOR, axis=0)
    rate = np.where(arrived, -np.log10(FLOOR) / np.maximum(there, 1), rate)
    return np.where((last <= before) | arrived, rate, -np.inf)


def final(gaps: np.ndarray) -> np.ndarray:
    """Minus the logarithm of the last gap."""
    with np.errstate(divide="ignore"):
        score = -np.log10(np.where(np.isfinite(gaps[-1]), gaps[-1], np.inf) / gaps[0])
    return np.where(np.isfinite(gaps[-1]), score, -np.inf)


SCORES = {"decay": decay, "final": final}
