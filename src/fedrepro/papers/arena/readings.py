"""What the arena's runs come to: the cost of every method on every problem to every target, and who comes first."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fedrepro.papers.arena.contest import TARGETS

CLASSES = {
    "smooth": ("arena_smooth",),
    "composite": ("arena_composite", "arena_balls"),
    "hybrid": ("arena_rectangles", "arena_whole_samples"),
}
EVERYTHING = tuple(name for names in CLASSES.values() for name in names)
COSTS = {
    "exchanges": "exchanges",
    "trips": "floats, in points there and back",
    "equivalents": "local gradients, or as much",
    "seconds": "seconds of our computation",
}
CELL = ["experiment", "setting", "algorithm", "seed"]
ROUGH, FINE = TARGETS


def costs(rows: pd.DataFrame) -> pd.DataFrame:
    """A line for every cell and target: what it had cost on arrival, infinity where it never arrived."""
    lines = []
    for key, cell in rows.groupby(CELL, sort=False):
        for target, there in arrivals(cell).items():
            spent = dict.fromkeys(COSTS, np.inf) if there is None else cell[list(COSTS)].iloc[there].to_dict()
            lines.append(dict(zip(CELL, key, strict=True)) | {"target": target} | spent)
    table = pd.DataFrame(lines)
    table["problem"] = table["experiment"].str.removeprefix("arena_") + " " + table["setting"]
    return table


def arrivals(cell: pd.DataFrame) -> dict[float, int | None]:
    """Target -> at which of its records a cell's gap first was so small; None where it never was. A run that diverged never
    arrives, whatever it passed on its way."""
    share = cell["gap"].to_numpy() / cell["gap"].iloc[0]
    lost = cell["status"].iloc[-1] == "diverged"
    there = {target: np.flatnonzero(share <= target) for target in TARGETS}
    return {target: None if lost or not len(at) else int(at[0]) for target, at in there.items()}


def of_class(table: pd.DataFrame, name: str) -> pd.DataFrame:
    return table[table["experiment"].isin(CLASSES[name])]


def matrix(table: pd.DataFrame, cost: str, target: float) -> pd.DataFrame:
    """Problem and seed x method: the cost to a target; infinity where a method did not run on it or never arrived."""
    part = table[table["target"] == target]
    return part.pivot_table(
        index=["problem", "seed"], columns="algorithm", values=cost, aggfunc="first", dropna=False
    ).fillna(np.inf)


def ratios(found: pd.DataFrame) -> pd.DataFrame:
    """To the best method's cost on the same problem; infinity where nobody arrived."""
    best = found.min(axis=1).to_numpy()[:, None]
    values = found.to_numpy()
    with np.errstate(invalid="ignore"):
        out = np.where(np.isfinite(values) & (best > 0), values / best, np.where(values == 0, 1.0, np.inf))
    return pd.DataFrame(out, found.index, found.columns)


def profile(ratio: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """ρ(τ): the share of problems on which the ratio is at most τ (Dolan & Moré 2002, eq. 2.1)."""
    return np.array([np.mean(ratio <= level * (1 + 1e-12)) for level in levels])


def areas(ratio: pd.DataFrame, levels: np.ndarray) -> pd.Series:
    """Area under each method's profile, over the logarithm of τ: how good it is all in all. The best first."""
    found = {name: profile(ratio[name].to_numpy(), levels).mean() for name in ratio}
    return pd.Series(found).sort_values(ascending=False, kind="stable")


# --- the price of a network ---

GRADIENT = 1e-3  # seconds of a full local gradient
BYTES = 8  # of a float


@dataclass(frozen=True)
class Counts:
    """What every method had sent and computed at a target, problem x method; infinity where it never arrived."""

    methods: list[str]
    exchanges: np.ndarray
    floats: np.ndarray  # of a client, both ways
    gradients: np.ndarray

    @classmethod
    def of(cls, table: pd.DataFrame, points: pd.Series, target: float) -> "Counts":
        """`points` are the floats that a client sends and receives in one trip, by problem."""
        parts = [matrix(table, cost, target) for cost in ("exchanges", "trips", "equivalents")]
        length = points.reindex(parts[1].index.get_level_values("problem")).to_numpy()[:, None]
        exchanges, trips, gradients = (part.to_numpy() for part in parts)
        return cls(list(parts[0].columns), exchanges, trips * length, gradients)

    def times(self, latency: float, bandwidth: float, gradient: float = GRADIENT) -> np.ndarray:
        """Seconds: exchanges times the latency, a client's bytes over its bandwidth (bytes a second), and gradients."""
        return self.exchanges * latency + self.floats * BYTES / bandwidth + self.gradients * gradient

    def favourite(self, latency: float, bandwidth: float) -> tuple[str, float]:
        """Who is first on most problems (by name among equals), and the share of problems behind it."""
        time = self.times(latency, bandwidth)
        solved = np.isfinite(time).any(axis=1)
        if not solved.any():
            return "", 0.0
        wins = np.bincount(np.argmin(time[solved], axis=1), minlength=len(self.methods))
        return self.methods[int(np.argmax(wins))], float(wins.max() / len(time))


def facts(results, *experiments: str) -> pd.DataFrame:
    """What is known of every problem: condition number, dimension, and the floats of a client's trip."""
    lines = []
    for experiment in experiments:
        for (setting, seed), ref in results.reference(experiment).items():
            problem = f"{experiment.removeprefix('arena_')} {setting}"
            known = {k: float(ref.facts[k]) for k in ("kappa", "dimension")}
            lines.append({"problem": problem, "seed": seed} | known)
    return pd.DataFrame(lines)


def points(known: pd.DataFrame) -> pd.Series:
    """Floats of a point there and back, by problem."""
    return 2.0 * known.groupby("problem")["dimension"].first()


# --- which method when ---

NETWORKS = {  # latency in seconds, bandwidth in bytes a second
    "floats dear": (1e-3, 1e4),
    "exchanges dear": (1.0, 1e8),
}


def advice(table: pd.DataFrame, known: pd.DataFrame, target: float = ROUGH) -> pd.DataFrame:
    """For kinds of smooth problems and two networks: who is first most often, and on which share of them."""
    problems = known.groupby("problem")[["kappa", "dimension"]].median()
    middle = problems.median()
    skewed = problems.index.str.contains("skew=True")
    kinds = {"all": np.ones(len(problems), bool)}
    for word, column in (("condition number", "kappa"), ("dimension", "dimension")):
        high = (problems[column] > middle[column]).to_numpy()
        limit = f"{middle[column]:.3g}"
        if high.any():
            kinds |= {f"{word} up to {limit}": ~high, f"{word} above {limit}": high}
    if skewed.any() and not skewed.all():
        kinds |= {"clients alike": ~skewed, "clients different": skewed}
    lines = []
    for kind, chosen in kinds.items():
        part = table[table["problem"].isin(problems.index[chosen])]
        counts = Counts.of(part, points(known), target)
        for network, (latency, bandwidth) in NETWORKS.items():
            method, share = counts.favourite(latency, bandwidth)
            lines.append({"problems": kind, "count": int(chosen.sum()), "network": network,
                          "method": method, "share": share})  # fmt: skip
    return pd.DataFrame(lines)


# --- facts that theory settles ---


def kappa_of(known: dict, setting: str, seed: int) -> float:
    """Of the clients' constants, which theory speaks of."""
    constants = known[setting, seed].constants
    return constants["L*"] / constants["l*"]
