"""The page's own chart (explorer.js): its data, small enough to be embedded.

A curve is a method with its parameters on one setting of an experiment: the median over seeds and the band from the lowest
to the highest, at the rounds a screen can tell apart. Columns are float32 without their last byte, good to 2e-5, one
after the other, deflated, in a base64 text for every experiment; a count that grows by the same amount every round is two numbers.
Seconds, which no two runs share, have a text of their own.
"""

import base64
import zlib
from collections import Counter
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import pandas as pd

from fedrepro.experiments import trace
from fedrepro.experiments.experiment import Paper
from fedrepro.experiments.results import Results
from fedrepro.maths.kernels.thinning import weights
from fedrepro.reporting import style
from fedrepro.reporting.names import called

COSTS = ("exchanges", "floats", "gradients", "hessians", "seconds")  # besides the round itself
WIDE, HIGH = 900.0, 480.0  # pixels of the chart for which curves are thinned
TOLERANCE = 1.0  # pixel
MOST_BYTES = 60_000  # of an experiment, in base64, before it is deflated
FEWEST = 12  # points of a curve, whatever that takes
MOST_POINTS = 300  # looked at; fewer are kept
MOST_CURVES = 40  # of an experiment; of a tuning grid those that end lowest are shown


@dataclass
class Columns:
    """float32 columns of one experiment, end to end."""

    parts: list[np.ndarray] = field(default_factory=list)
    length: int = 0
    clocks: "Columns | None" = None

    def add(self, values: np.ndarray) -> int:
        """Where the column begins."""
        start = self.length
        self.parts.append(np.asarray(values, "<f4"))
        self.length += len(values)
        return start

    def text(self) -> str:
        joined = np.concatenate(self.parts) if self.parts else np.zeros(0, "<f4")
        return base64.b64encode(packed(joined)).decode()


def packed(values: np.ndarray) -> bytes:
    """Three bytes a number, float32 rounded to fifteen bits behind the leading one: all second bytes, all third, all fourth."""
    bits = np.asarray(values, "<f4").view("<u4") + np.uint32(0x80)
    bits = np.where(np.isnan(values), np.uint32(0x7FC00000), bits).astype("<u4")
    return zlib.compress(bits.view(np.uint8).reshape(-1, 4)[:, 1:].T.tobytes(), 9)


def data(paper: Paper, results: Results) -> tuple[dict | None, dict[str, tuple[str, str]]]:
    """What there is to choose of a paper, if anything, and the numbers and clocks of every experiment as base64."""
    entries, numbers = [], {}
    for name, raw in paper.raw["experiments"].items():
        full = f"{paper.name}_{name}"
        columns = Columns(clocks=Columns())
        curves, left = experiment(trace.read(*results.trace_files(full)), measures(paper, full), columns)
        if curves:
            entries.append({"id": full, "name": name, "about": raw["about"], "measures": measures(paper, full),
                            "curves": curves, "left": left})  # fmt: skip
            numbers[full] = columns.text(), columns.clocks.text()
    whole = {"name": paper.name, "title": paper.raw["title"], "experiments": entries}
    return whole if entries else None, numbers


def measures(paper: Paper, experiment: str) -> list[str]:
    found = [m for block in paper.experiment_blocks(experiment) for m in block.measures]
    return list(dict.fromkeys(found))


def experiment(rows: pd.DataFrame, names: list[str], columns: Columns) -> tuple[list[dict], int]:
    """Its curves, and how many more there are. What does not fit is drawn more coarsely."""
    rows = rows.assign(floats=rows["floats_down"] + rows["floats_up"])
    told = ["setting", "algorithm", "params", "seed", "round", "status", *names, *COSTS]
    rows = rows[[name for name in told if name in rows]]
    groups = list(rows.groupby(["setting", "algorithm", "params"], sort=False))
    chosen = best(groups, names[0])
    lines = [line for i, key in chosen if (line := Line.of(key, groups[i][1], names))]
    each = round(MOST_BYTES / 4 / max(1, sum(line.columns for line in lines)))  # a number in base64: 4 bytes
    curves = [line.curve(max(FEWEST, each), columns) for line in lines]
    tell_apart(curves)
    return curves, len(groups) - len(chosen)


def tell_apart(curves: list[dict]) -> None:
    """What a legend says: the parameters in which the curves of a method on one setting differ."""
    families: dict[tuple, list[dict]] = {}
    for one in curves:
        families.setdefault((one["setting"], one["algorithm"]), []).append(one)
    for family in families.values():
        known = [dict(p.partition("=")[::2] for p in one["params"].split(",") if p) for one in family]
        for one, own in zip(family, known, strict=True):
            told = [f"{k} {v}" for k, v in own.items() if len({other.get(k) for other in known}) > 1]
            one["told"] = ", ".join(told).replace("_", " ")
            one["params"] = one["params"].replace("_", " ").replace("=", " ").replace(",", ", ")


def best(groups: list, measure: str) -> list[tuple[int, tuple]]:
    """All curves; where there are too many, the same number for every method on every setting, those that end lowest."""
    keys = [(i, key) for i, (key, _) in enumerate(groups)]
    if len(keys) <= MOST_CURVES:
        return keys
    families: dict[tuple, list] = {}
    for i, (key, cells) in enumerate(groups):
        ends = cells.groupby("seed").tail(1)
        bad = (ends["status"] == "diverged").any() or not np.isfinite(ends[measure]).all()
        families.setdefault(key[:2], []).append((bad, np.inf if bad else ends[measure].median(), i, key))
    each = max(1, MOST_CURVES // len(families))
    chosen = [(i, key) for family in families.values() for _, _, i, key in sorted(family)[:each]]
    return sorted(chosen[:MOST_CURVES])


@dataclass
class Line:
    """A curve with all its points, and how much each of them matters to the eye."""

    key: tuple[str, str, str]
    names: list[str]
    rounds: np.ndarray
    values: np.ndarray  # seeds x rounds x measures and costs
    ended: dict[str, int]
    weight: np.ndarray

    @classmethod
    def of(cls, key: tuple, cells: pd.DataFrame, names: list[str]) -> "Line | None":
        names = [m for m in names if m in cells and cells[m].notna().any()]
        rounds, values, ended = by_seed(cells, [*names, *COSTS])
        if not len(rounds) or not names:
            return None
        middle = np.median(values[:, :, : len(names)], axis=0)
        return cls(key, names, rounds, values, ended, visible(rounds, list(middle.T)))

    @property
    def columns(self) -> int:
        """How many numbers a point takes, at most."""
        return 1 + len(COSTS) + (3 if len(self.values) > 1 else 1) * len(self.names)

    def curve(self, most: int, columns: Columns) -> dict:
        """With the points that can be seen; where those are too many, with the ones that matter most."""
        heaviest = np.argsort(-self.weight, kind="stable")[:most]
        rows = np.sort(heaviest[self.weight[heaviest] > 0])
        values, at = self.values[:, rows], self.rounds[rows]
        low, middle, high = values.min(axis=0), np.median(values, axis=0), values.max(axis=0)
        setting, algorithm, params = self.key
        found = {
            "algorithm": called(algorithm),
            "colour": style.colour(algorithm),
            "setting": "" if setting == "-" else setting,
            "params": params,
            "seeds": len(values),
            "points": len(rows),
            "ended": self.ended,
            "x": {"round": columns.add(at)},
            "y": {},
        }
        for j, cost in enumerate(COSTS, len(self.names)):
            if cost == trace.CLOCK:
                found["x"][cost] = columns.clocks.add(middle[:, j])
            elif np.any(middle[:, j]):
                found["x"][cost] = straight(at, middle[:, j]) or columns.add(middle[:, j])
        for j, m in enumerate(self.names):
            bands = (middle, low, high) if len(values) > 1 else (middle,)
            found["y"][m] = [columns.add(band[:, j]) for band in bands]
        return found


def by_seed(cells: pd.DataFrame, names: list[str]) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    """The rounds that all seeds recorded, the values there (seeds x rounds x names), and how many ended how."""
    seeds, rounds = cells["seed"].to_numpy(), cells["round"].to_numpy(float)
    values, status = cells[names].to_numpy(float), cells["status"].to_numpy()
    own = [np.flatnonzero(seeds == seed) for seed in np.unique(seeds)]
    common = reduce(np.intersect1d, [rounds[rows] for rows in own])
    stack = np.stack([values[rows[np.isin(rounds[rows], common)]] for rows in own])
    return common, stack, dict(sorted(Counter(str(status[rows[-1]]) for rows in own).items()))


def straight(rounds: np.ndarray, values: np.ndarray) -> list[float] | None:
    """[slope, intercept] of a count that grows by the same amount every round."""
    if len(rounds) < 2:
        return [0.0, float(values[0])]
    slope = (values[-1] - values[0]) / (rounds[-1] - rounds[0])
    intercept = values[0] - slope * rounds[0]
    fits = np.allclose(intercept + slope * rounds, values, rtol=1e-6, atol=1e-6 * np.abs(values).max())
    return [float(f"{slope:.8g}"), float(f"{intercept:.8g}")] if fits else None


def visible(rounds: np.ndarray, values: list[np.ndarray]) -> np.ndarray:
    """How many pixels off some measure would be drawn without a round, with either axis plain or logarithmic."""
    n = len(rounds)
    weight = np.zeros(n)
    even = np.linspace(0, n - 1, MOST_POINTS // 2)
    rising = np.geomspace(1, n, MOST_POINTS // 2) - 1
    looked = (
        np.unique(np.concatenate([even, rising]).round().astype(int)) if n > MOST_POINTS else np.arange(n)
    )
    for column in values:
        finite = looked[np.isfinite(column[looked])]
        for x in scaled(rounds[finite], WIDE):
            for y in scaled(column[finite], HIGH):
                weight[finite] = np.maximum(weight[finite], weights(x, y, TOLERANCE))
    weight[[0, -1]] = np.inf
    return weight


def scaled(values: np.ndarray, pixels: float):
    """In pixels of a plain axis and, where it can be drawn, of a logarithmic one."""
    if not len(values):
        return
    positive = np.where(values > 0, values, np.nan)
    for line in (values, np.log10(positive)):
        if np.isfinite(line).sum() > 1:
            low, high = np.nanmin(line), np.nanmax(line)
            yield np.nan_to_num((line - low) / (high - low or 1.0), nan=0.0) * pixels
