"""Choosing hyper-parameters in ranges: a grid search in which all points advance together, one column each.

Ranges are searched with the same budget for every method. Runs are scored by how fast the gap decays over the rounds
they are tuned for, and a winner must go on falling for LASTING times as many: the lowest final gap may belong to a run
that is about to diverge.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FLOOR = 1e-12  # of the starting gap; below it a run has arrived
MOST_LEVELS = 64
WIDEST = 0.3  # decades at least that good places are apart, and that are looked at around them at first
GRIDS = 6  # rounds of neighbours that a good place may expect
MOST_BASINS = 16  # good places that are refined side by side
FINEST = 0.003  # decades between grid points, below which nothing is left to gain
ENDING = (0.05, 0.02)  # decades to the neighbours that are run exactly in the end
LEAST = 4  # of a group that are never dropped early
FINALISTS = 16  # points that are run exactly, a batch at a time
MOST_BATCHES = 20
LASTING = 10  # times the horizon
CHUNK = 64  # columns that advance in one call: their stacks stay in cache


@dataclass(frozen=True)
class Budget:
    """What every method may spend: grid points, and rounds of each."""

    points: int
    rounds: int
    score: str = "decay"  # or final: the lowest gap at the last round, whatever comes after


def search(gaps: Callable[[dict, int, bool], np.ndarray], ranges: dict[str, list], budget: Budget) -> dict:
    """The best grid point. `gaps(columns, rounds, exactly)` runs the columns: (rounds + 1, P), on a cheap model of the
    problem or `exactly`.

    Half of the points go to a grid over the whole ranges, even in the logarithm; the rest to the neighbours of the best
    places, along the axes and the diagonals, half as far away as soon as a place stays the best of its neighbours. Who
    came first on the model is then run exactly, and its neighbours with it. At most `budget.points` points are tried,
    whatever the method.
    """
    names = list(ranges)
    low, high = (np.log10([ranges[n][i] for n in names]) for i in (0, 1))
    count = levels(budget.points // 2, len(names))
    model = Field(gaps, names, budget)
    model.enter([lattice(low, high, count)])
    width = np.maximum((high - low) / (count - 1), WIDEST)
    directions = compass(len(names))
    spare = len(ENDING) * len(directions)
    places = (budget.points - spare - len(model.tried)) // (GRIDS * len(directions))
    basins = [Basin(p, width) for p in model.apart(width, min(MOST_BASINS, max(1, places)))]
    while basins:
        around = [np.clip(b.best + b.width * directions, low, high) for b in basins]
        if not model.enter(around, budget.points - spare):
            break
        basins = [b for b, points in zip(basins, around, strict=True) if b.follow(model, points)]
    exact = Field(gaps, names, budget, exactly=True)
    best = exact.first_lasting(model.ranked())
    for width in ENDING:
        exact.enter([np.clip(best + width * directions, low, high)])
        best = exact.first_lasting(exact.ranked())
    return dict(zip(names, (10.0**best).tolist(), strict=True))


class Field:
    """Every grid point tried so far, with its score."""

    def __init__(self, gaps, names, budget: Budget, exactly=False):
        self.gaps, self.names, self.budget, self.exactly = gaps, names, budget, exactly
        self.tried: dict[tuple, float] = {}
        self.early: dict[tuple, float] = {}  # after the first few rounds
        self.lasts: dict[tuple, bool] = {}

    def enter(self, groups: list[np.ndarray], most: float = np.inf) -> bool:
        """Try those points not tried yet, each once; False, and nothing done, if there would be more than `most`."""
        fresh = {
            key(p): (p, g) for g, points in enumerate(groups) for p in points if key(p) not in self.tried
        }
        if len(fresh) + len(self.tried) > most:
            return False
        if fresh:
            points, group = (np.array(part) for part in zip(*fresh.values(), strict=True))
            self.tried |= dict(zip(fresh, race(self, points, group).tolist(), strict=True))
        return True

    def ranked(self) -> list[tuple]:
        """All points, the best first; those that dropped out come last, by how far they had fallen by then."""
        return sorted(self.tried, key=lambda k: (-self.tried[k], -self.early.get(k, 0.0)))

    def apart(self, width: np.ndarray, most: int) -> list[np.ndarray]:
        """The best points that are no neighbours of a better one."""
        found: list[np.ndarray] = []
        for point in map(np.array, self.ranked()):
            if len(found) == most or (found and self.tried[key(point)] == -np.inf):
                break
            if all(np.any(np.abs(point - other) > 1.5 * width) for other in found):
                found.append(point)
        return found

    def first_lasting(self, candidates: list[tuple]) -> np.ndarray:
        """The best of the candidates among those that go on falling, a batch of them after the other; the first of all
        where none of MOST_BATCHES does."""
        for start in range(0, min(len(candidates), MOST_BATCHES * FINALISTS), FINALISTS):
            batch = candidates[start : start + FINALISTS]
            self.enter([np.array(batch)])
            order = [k for k in sorted(batch, key=lambda k: -self.tried[k]) if self.tried[k] > -np.inf]
            for some in (order[:1], order[1:]):  # most often the first will do
                self.look([k for k in some if k not in self.lasts])
                for k in some:
                    if self.lasts[k]:
                        return np.array(k)
        return np.array(candidates[0])

    def look(self, keys: list[tuple]) -> None:
        """Which points go on falling for LASTING times the horizon; not asked where the final gap decides."""
        if self.budget.score != "decay":
            self.lasts |= dict.fromkeys(keys, True)
        elif keys:
            rounds = self.budget.rounds
            columns = dict(zip(self.names, 10.0 ** np.array(keys).T, strict=True))
            with np.errstate(all="ignore"):
                found = lasting(self.gaps(columns, LASTING * rounds, True), rounds)
            self.lasts |= dict(zip(keys, found.tolist(), strict=True))


@dataclass
class Basin:
    """A good place, and how far around it is looked."""

    best: np.ndarray
    width: np.ndarray

    def follow(self, field: Field, points: np.ndarray) -> bool:
        """Move to the best of some points, or look closer; False once there is nothing left to gain."""
        top = max(map(key, points), key=lambda k: field.tried[k])
        if field.tried[top] > field.tried[key(self.best)]:
            self.best = np.array(top)
        else:
            self.width = self.width / 2.0
        return bool(self.width.max() > FINEST)


def key(point: np.ndarray) -> tuple:
    return tuple(np.round(point, 6).tolist())


def lasting(gaps: np.ndarray, rounds: int) -> np.ndarray:
    """Whether the gap goes on falling: its highest value in every stretch of `rounds` rounds is below that in the
    stretch before, or it has arrived."""
    relative = np.where(np.isfinite(gaps), gaps, np.inf) / gaps[0]
    top = relative[1:].reshape(-1, rounds, gaps.shape[1]).max(axis=1)
    return np.all((top[1:] < top[:-1]) | (top[1:] <= FLOOR), axis=0)


def levels(points: int, dimensions: int) -> int:
    """How many levels per parameter a full grid of at most `points` points can have; more than MOST_LEVELS would
    tell a single parameter nothing new."""
    return min(MOST_LEVELS, max(2, int(points ** (1.0 / dimensions) + 1e-9)))


def compass(dimensions: int) -> np.ndarray:
    """Steps along every axis and every diagonal of the cube."""
    axes = np.concatenate([np.eye(dimensions), -np.eye(dimensions)])
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=dimensions)))
    return axes if dimensions == 1 else np.concatenate([axes, corners])


def lattice(low, high, count) -> np.ndarray:
    return np.array(
        list(itertools.product(*(np.linspace(a, b, count) for a, b in zip(low, high, strict=True))))
    )


def race(field: Field, points: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Scores of grid points. On the model all run an eighth of the rounds, the lower half of every group half of the
    rounds, and the lower quarter of those the whole; whoever drops out scores minus infinity."""
    rounds, stay = field.budget.rounds, np.arange(len(points))
    for share, kept in () if field.exactly else ((8, 2), (2, 4)):
        early = run(field, points[stay], max(4, rounds // share), lowest)
        if share == 8:
            field.early |= dict(zip(map(key, points), early.tolist(), strict=True))
        order, own = np.argsort(-early, kind="stable"), group[stay]
        parts = [order[own[order] == g] for g in np.unique(own)]
        stay = np.sort(stay[np.concatenate([part[: max(LEAST, len(part) // kept)] for part in parts])])
    score = np.full(len(points), -np.inf)
    score[stay] = run(field, points[stay], rounds, SCORES[field.budget.score])
    return score


def run(field: Field, points: np.ndarray, rounds: int, score: Callable) -> np.ndarray:
    out = []
    with np.errstate(all="ignore"):
        for start in range(0, len(points), CHUNK):
            part = 10.0 ** points[start : start + CHUNK]
            columns = dict(zip(field.names, part.T, strict=True))
            out.append(score(field.gaps(columns, rounds, field.exactly)))
    return np.concatenate(out)


def lowest(gaps: np.ndarray) -> np.ndarray:
    """Decades that the gap has fallen by its highest value in the last quarter, and minus infinity where it rose."""
    relative = np.where(np.isfinite(gaps), gaps, np.inf) / gaps[0]
    last = relative[-max(1, len(gaps) // 4) :].max(axis=0)
    return np.where(last < np.inf, -np.log10(np.maximum(last, FLOOR)), -np.inf)


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
