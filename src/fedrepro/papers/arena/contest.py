"""Fair play: one horizon, one start, one number of tuning runs for everybody.

A range of a hyper-parameter is written in the problem's own constants, `[0.1/L*, 4/L*]` or `[0.01*L*, L*]`. Every method
that has one is given the same number of runs over the horizon, at the same places of its ranges (Halton's points, even in
the logarithm); the best that goes on falling past the horizon plays. A method without a range needs no tuning.
"""

import re
from typing import TypedDict

import numpy as np

from fedrepro import algorithms
from fedrepro.experiments.experiment import Stop
from fedrepro.experiments.problem import Problem
from fedrepro.experiments.runner import run_cell
from fedrepro.maths.domains import Count, Positive, fits
from fedrepro.maths.steps import parse, stepsize

TARGETS = (1e-4, 1e-8)  # of the starting gap
MEASURES = ("gap", "left", "trips", "equivalents")
STOP = Stop(rounds=1_000_000, metric="left", below=0.0)
PAST = 2.0  # horizons over which a winner must go on falling
LOOKED_AT = 3  # candidates of which that is asked, the best first
BASES = (2, 3, 5, 7)


class Horizon(TypedDict):
    """What everybody may spend: points of full size sent there and back, and full local gradients of every client;
    and how many runs there are to tune with."""

    trips: Positive
    gradients: Positive
    runs: Count


class Contest(Problem):
    """A problem whose runs end with the horizon, or at the last target. Subclasses have a `federation`, `error`,
    `trip`, the floats of a point to everybody and back, and `equivalents`, the gradients that their work comes to."""

    measurable = MEASURES
    stretch = 1.0  # of the horizon

    def __init__(self, setting: dict, seed: int, trip: float, **about):
        super().__init__(**about)
        self.setting, self.seed, self.trip = setting, seed, trip
        self.now = np.inf

    def trips(self, ledger) -> float:
        return (ledger.floats_up + ledger.floats_down) / self.trip

    def spent(self, trips, equivalents):
        """Share of the horizon, of whichever part runs out first."""
        return np.maximum(trips / self.setting["trips"], equivalents / self.setting["gradients"])

    def measure(self, name, reference):
        if name == "gap":
            error = self.error(reference)

            def gap(x, clients):
                self.now = error(x)
                return self.now

            return gap
        if name == "left":  # of the horizon; nothing is left to do at the last target
            aim = TARGETS[-1] * reference.facts["start"]

            def left(x, clients):
                if self.now <= aim:
                    return 0.0
                share = self.spent(self.trips(clients.ledger), self.equivalents(clients.ledger))
                return float(self.stretch - share)

            return left
        meter = {"trips": self.trips, "equivalents": self.equivalents}[name]
        return lambda x, clients: float(meter(clients.ledger))

    # --- tuning ---

    @classmethod
    def meanings(cls, name, value, setting, params):
        ends = value if isinstance(value, list) else [value]
        if isinstance(value, list) and len(value) != 2:
            raise ValueError("a range is two numbers, [low, high]")
        return tuple(end if factor(end) is None else factor(end) for end in ends)

    def choose(self, function, params, reference):
        """Ranges give way to winners, and amounts in the problem's constants to numbers."""
        known = {k: v for k, v in params.items() if not isinstance(v, list)}
        ranges = {k: v for k, v in params.items() if isinstance(v, list)}
        known = {k: amount(v, reference.constants) for k, v in known.items()}
        if not ranges:
            return known
        points = []
        declared = algorithms.parameters(function)
        for place in halton(self.setting["runs"], len(ranges)):
            point = {}
            for u, (name, ends) in zip(place, ranges.items(), strict=True):
                low, high = (amount(end, reference.constants) for end in ends)
                value = float(low * (high / low) ** u)
                point[name] = value if fits(value, declared[name].annotation, {}) else round(value)
            points.append(known | point)
        return self.winner(function, points, reference)

    def winner(self, function, points: list[dict], reference) -> dict:
        """The best over the horizon of those that last, or simply the best."""
        ranked = sorted(range(len(points)), key=lambda i: self.score(function, points[i], reference))
        for i in ranked[:LOOKED_AT]:
            if self.lasts(function, points[i], reference):
                return points[i]
        return points[ranked[0]]

    def run(self, function, params: dict, reference, stretch: float) -> tuple[dict, str]:
        self.stretch = stretch
        try:
            trace, status = run_cell(function, self, reference, params, STOP, MEASURES)
        finally:
            self.stretch = 1.0
        return {name: np.array(trace.columns[name]) for name in MEASURES}, status

    def score(self, function, params: dict, reference) -> tuple[float, float]:
        """Lower is better: who arrives, by what it took; else the highest gap in the last quarter of the horizon."""
        found, status = self.run(function, params, reference, 1.0)
        share = self.spent(found["trips"], found["equivalents"])
        if status == "diverged":
            return (2.0, -share[-1])
        if found["gap"][-1] <= TARGETS[-1] * reference.facts["start"]:
            return (0.0, share[-1])
        return (1.0, float(found["gap"][share >= 0.75 * share[-1]].max()))

    def lasts(self, function, params: dict, reference) -> bool:
        """Whether the gap past the horizon stays below what it was in the horizon's last quarter."""
        found, status = self.run(function, params, reference, PAST)
        share, gap = self.spent(found["trips"], found["equivalents"]), found["gap"]
        before, after = gap[(share >= 0.75) & (share <= 1.0)], gap[share > 1.0]
        if status == "diverged":
            return False
        return len(before) == 0 or len(after) == 0 or bool(after.max() <= before.max() * (1 + 1e-9))


def factor(text) -> float | None:
    """The number in an amount that is scaled by a constant, None where there is no constant."""
    if not isinstance(text, str):
        return None
    found = re.fullmatch(r"([0-9.eE+-]+)\*(L\*|l\*|L_F|l_F)", text)
    if found:
        return float(found[1])
    try:
        return parse(text)[0]
    except ValueError:
        return None


def amount(value, constants: dict):
    """`0.1/L*` and `0.1*L*` as numbers; anything else as it is."""
    if factor(value) is None:
        return value
    number, _, name = value.partition("*")
    return float(number) * constants[name] if name in constants else stepsize(value, constants)


def halton(count: int, dimensions: int) -> np.ndarray:
    """The first points of Halton's sequence in the unit cube, from its middle on."""

    def inverse(i, base):
        value, share = 0.0, 1.0
        while i:
            share /= base
            i, digit = divmod(i, base)
            value += share * digit
        return value

    return np.array([[inverse(i, base) for base in BASES[:dimensions]] for i in range(1, count + 1)])
