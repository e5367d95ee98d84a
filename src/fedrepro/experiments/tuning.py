"""Choosing hyper-parameters in ranges, with the same budget for every method.

Differential evolution (Storn & Price 1997) in the logarithms: valleys are narrow and there are several of them, which a
grid of a few levels a parameter misses. All members of a generation advance together, one column each. Runs are scored
by how fast the gap decays over the rounds they are tuned for, and a winner must go on falling for LASTING times as
many: the lowest final gap may belong to a run that is about to diverge.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import differential_evolution
from scipy.stats import qmc

FLOOR = 1e-12  # of the starting gap; below it a run has arrived
MEMBERS = 40  # of a generation
ALIKE = 0.001  # spread of the members' scores, relative to their mean, at which the search has settled
STRAY = 0.2  # decades
EXACTLY = 0.2  # of the points
FINALISTS = 16  # leading points that are asked at a time whether they last
LASTING = 10  # times the horizon
CHUNK = 64  # columns that advance in one call: their stacks stay in cache


@dataclass(frozen=True)
class Budget:
    """What every method may spend: points, and rounds of each."""

    points: int
    rounds: int
    score: str = "decay"  # or final: the lowest gap at the last round, whatever comes after


def search(
    gaps: Callable[[dict, int, bool], np.ndarray], ranges: dict[str, list], budget: Budget, modelled=False
) -> dict:
    """The best point found. `gaps(columns, rounds, exactly)` runs the columns: (rounds + 1, P), exactly or, where the
    problem is `modelled`, on a cheap model of it.

    A search goes on until its members are alike, and others from other starts until the budget is spent. With a model,
    EXACTLY of the points are kept for a last search that starts from the model's best. At most `budget.points` points
    are tried, whatever the method.
    """
    names = list(ranges)
    low, high = (np.log10([ranges[n][i] for n in names]) for i in (0, 1))
    field = Field(gaps, names, budget, exactly=not modelled)
    spent = EXACTLY * budget.points if modelled else 0
    members = min(MEMBERS, budget.points // 2) // len(names) * len(names)
    starts = (halton(len(names), members, k) for k in itertools.count())
    while (left := int(budget.points - spent - len(field.tried))) >= members:
        evolve(field, low, high, next(starts), left // members)
    if modelled:
        found = np.array(field.ranked()[: members // 2])
        field = Field(gaps, names, budget, exactly=True)
        first = halton(len(names), members, 0)
        first[: len(found)] = (found - low + STRAY) / (high - low + 2.0 * STRAY)
        evolve(field, low, high, first, int(spent) // members)
    return dict(zip(names, (10.0 ** np.array(field.ranked()[0])).tolist(), strict=True))


def halton(dimensions: int, count: int, seed: int) -> np.ndarray:
    return qmc.Halton(dimensions, rng=seed).random(count)


def evolve(field: "Field", low: np.ndarray, high: np.ndarray, start: np.ndarray, generations: int) -> None:
    """Differential evolution within [low, high] from a generation given in the unit cube. Members may stray a little
    and are pulled back, so that the ends of a range are met."""
    outer, upper = low - STRAY, high + STRAY

    def energies(members: np.ndarray) -> np.ndarray:
        points = np.clip(members.T, low, high)
        field.scores(points)
        field.dethrone()
        return -field.scores(points)

    differential_evolution(
        energies,
        list(zip(outer, upper, strict=True)),
        init=outer + start * (upper - outer),
        maxiter=max(0, generations - 1),
        tol=ALIKE,
        mutation=(0.3, 0.9),
        recombination=0.9,
        polish=False,
        vectorized=True,
        updating="deferred",
        rng=0,
    )


class Field:
    """Every point tried so far, with its score."""

    def __init__(self, gaps, names, budget: Budget, exactly: bool):
        self.gaps, self.names, self.budget, self.exactly = gaps, names, budget, exactly
        self.tried: dict[tuple, float] = {}
        self.mark = -np.inf  # the best score of a point that is known to last

    def scores(self, points: np.ndarray) -> np.ndarray:
        """Run those points not tried yet, each once."""
        fresh = list(dict.fromkeys(k for k in map(key, points) if k not in self.tried))
        if fresh:
            self.tried |= dict(zip(fresh, self.run(np.array(fresh)).tolist(), strict=True))
        return np.array([self.tried[key(p)] for p in points])

    def run(self, points: np.ndarray) -> np.ndarray:
        out = []
        with np.errstate(all="ignore"):
            for start in range(0, len(points), CHUNK):
                columns = dict(zip(self.names, 10.0 ** points[start : start + CHUNK].T, strict=True))
                gaps = self.gaps(columns, self.budget.rounds, self.exactly)
                out.append(SCORES[self.budget.score](gaps))
        return np.concatenate(out)

    def ranked(self) -> list[tuple]:
        """All points, the best first."""
        return sorted(self.tried, key=lambda k: -self.tried[k])

    def dethrone(self) -> None:
        """Points that lead but will not go on falling score nothing: a search must not gather around them."""
        if self.budget.score != "decay":  # where the final gap decides, whatever comes after
            return
        while leading := [k for k in self.ranked()[:FINALISTS] if self.tried[k] > self.mark]:
            columns = dict(zip(self.names, 10.0 ** np.array(leading).T, strict=True))
            with np.errstate(all="ignore"):
                gaps = self.gaps(columns, LASTING * self.budget.rounds, self.exactly)
            for k, lasts in zip(leading, lasting(gaps, self.budget.rounds), strict=True):
                if lasts:
                    self.mark = self.tried[k]
                    break
                self.tried[k] = -np.inf


def key(point: np.ndarray) -> tuple:
    return tuple(np.round(point, 6).tolist())


def lasting(gaps: np.ndarray, rounds: int) -> np.ndarray:
    """Whether the gap goes on falling: its highest value in every stretch of `rounds` rounds is below that in the
    stretch before, or it has arrived."""
    relative = np.where(np.isfinite(gaps), gaps, np.inf) / gaps[0]
    top = relative[1:].reshape(-1, rounds, gaps.shape[1]).max(axis=1)
    return np.all((top[1:] < top[:-1]) | (top[1:] <= FLOOR), axis=0)


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
