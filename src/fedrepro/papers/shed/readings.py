"""Readings of Dal Fabbro et al.: what the paper leaves open, each way of settling it, and how long things then take.

A reading is a choice of PCA centring, intercept and line-search constants, with the traces that were run under it. What
takes how long is compared seed by seed: `Ratio` is one method's rounds (vectors, Hessians) over another's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

CONVERGED = 1e-10  # 'convergence' is not defined in the paper
LARGE, MIDDLE, SMALL = 1e-5, 1e-6, 1e-8  # the penalties μ of section 6.7
INCREMENTS = {"1": "one", "3": "three", "6": "six", "30": "thirty", "channel": "random"}  # d_t of section 6.6
PARTITIONS = {"iid": "i.i.d.", "skew": "non i.i.d."}
FEDNL_AND_SHED = ("fednl", "fib_shed")


# --- how long ---


def reach(cells: pd.DataFrame, column: str = "exchanges", level: float = CONVERGED) -> np.ndarray:
    """By seed: what `column` had come to when the gap first was at most `level`; inf where it never was.

    `hessians` is counted per agent.
    """
    found = []
    for _, rows in cells.groupby("seed"):
        rows = rows.sort_values("round")
        hit = rows[rows.gap <= level]
        found.append(float(hit[column].iloc[0]) / unit(rows, column) if len(hit) else np.inf)
    return np.array(found)


def spent(cells: pd.DataFrame, column: str = "exchanges") -> np.ndarray:
    """By seed: what `column` had come to at the end."""
    return np.array([rows[column].max() / unit(rows, column) for _, rows in cells.groupby("seed")])


def unit(rows: pd.DataFrame, column: str) -> float:
    """Hessians are counted over all agents, who compute their first one together."""
    return float(rows[rows.hessians > 0].hessians.min()) if column == "hessians" else 1.0


@dataclass(frozen=True)
class Ratio:
    """How many times as much of something one method takes as another in one seed. Where one of the two had not
    converged when its budget ended the number is a bound."""

    seed: int
    value: float
    censored: str = ""  # "at least", "at most"
    level: float = CONVERGED  # the cost to which it was counted


def ratios(one: pd.DataFrame, other: pd.DataFrame, column="exchanges", level=CONVERGED) -> list[Ratio]:
    """By seed: what `one` takes to the level over what `other` takes.

    Where neither gets there, the level is the cost at which the worse of them ended.
    """
    found = []
    for seed in seeds(one, other):
        mine, theirs = one[one.seed == seed], other[other.seed == seed]
        neither = min(mine.gap.min(), theirs.gap.min()) > level
        goal = common(mine, theirs) if neither else level
        (a, reached), (b, as_well) = (needed(cells, column, goal) for cells in (mine, theirs))
        late = "" if reached and as_well else "at most" if reached else "at least"
        found.append(Ratio(seed, a / b, late, goal))
    return found


def common(*cells: pd.DataFrame) -> float:
    """The lowest cost that all of them came down to, and no lower than what counts as converged."""
    return max(CONVERGED, *(float(rows.gap.min()) for rows in cells))


def needed(cells: pd.DataFrame, column: str, level: float) -> tuple[float, bool]:
    """What one cell takes to reach the level, or what it spent where it does not."""
    found = float(reach(cells, column, level)[0])
    return (found, True) if np.isfinite(found) else (float(spent(cells, column)[0]), False)


def seeds(*frames: pd.DataFrame) -> list[int]:
    return sorted(set.intersection(*(set(frame.seed) for frame in frames)))


def fastest(cells: pd.DataFrame, level: float = CONVERGED) -> pd.DataFrame:
    """By seed, of several grid points the one that takes the fewest rounds to the level, or else ends lowest."""

    def order(one):
        return float(reach(one, level=level)[0]), float(one.gap.min())

    best = [min((one for _, one in rows.groupby("params")), key=order) for _, rows in cells.groupby("seed")]
    return pd.concat(best) if best else cells


def one_triangle(fednl: pd.DataFrame) -> pd.DataFrame:
    """FedNL's cells with one triangle of the initial Hessian counted, (n + 1)/2 vectors, in place of all n.

    Besides it the first iteration sends a gradient and one vector.
    """
    n = fednl["seed"].map(fednl[fednl["round"] == 1].groupby("seed").vectors.min() - 2)
    return fednl.assign(vectors=fednl.vectors - np.where(fednl["round"] > 0, (n - 1) / 2, 0))


# --- what was run ---


def offered(results, experiment: str) -> bool:
    """Whether the reader declared it: a claim takes the readings that its entry in the YAML lists."""
    return results.only is None or experiment in results.only


def select(rows: pd.DataFrame, algorithm=None, mu=None, **columns) -> pd.DataFrame:
    """The rows of one algorithm at one penalty, and with these values in these columns, where there are such."""
    rows = rows if algorithm is None else rows[rows.algorithm == algorithm]
    if mu is not None and "mu" in rows:
        rows = rows[np.isclose(rows.mu.astype(float), mu)]
    for column, value in columns.items():
        rows = rows[rows[column] == value] if column in rows else rows
    return rows


@dataclass(frozen=True)
class Reading:
    """One way to settle the unstated choices on Fashion-MNIST, and the traces run under it."""

    results: object
    family: str  # of experiments: fmnist, centred, intercept, armijo
    centre: bool = False
    intercept: bool = False
    search: tuple[str, str] | None = None  # α and β of the line search

    @property
    def choices(self) -> dict[str, str]:
        return {
            "PCA": "centred" if self.centre else "uncentred",
            "intercept": "yes" if self.intercept else "no",
            "line_search": "usual" if self.search is None else "α {}, β {}".format(*self.search),
        }

    @property
    def name(self) -> str:
        words = ["PCA centred" if self.centre else "PCA uncentred"]
        words += ["intercept"] * self.intercept
        words += [] if self.search is None else ["α = {}, β = {}".format(*self.search)]
        return ", ".join(words)

    def cells(self, algorithm: str, partition: str, mu: float) -> pd.DataFrame:
        """Empty where it was not run, or not declared."""
        flat = mu == SMALL and self.family in ("fmnist", "centred")
        experiment = f"shed_{self.family}_{'flat' if flat else partition}"
        if not offered(self.results, experiment):
            return pd.DataFrame(columns=["seed", "round", "gap", "algorithm", "params", "data_origin"])
        found = select(self.results.traces(experiment), algorithm, mu, centre=self.centre)
        if self.search:
            found = select(found, p_alpha=self.search[0], p_beta=self.search[1])
        return found


def readings(results) -> Iterator[Reading]:
    """Those of which some experiment was declared."""
    found = [Reading(results, "fmnist"), Reading(results, "centred", True)]
    found += [Reading(results, "intercept", c, True) for c in (False, True)]
    if offered(results, "shed_armijo_skew"):
        found += [Reading(results, "armijo", search=s) for s in searches(results, "shed_armijo_skew")]
    for reading in found:
        names = [f"shed_{reading.family}_{p}" for p in ("iid", "skew", "flat")]
        if any(offered(results, name) for name in names):
            yield reading


def searches(results, experiment: str) -> list[tuple[str, str]]:
    """The line-search constants α, β that were run."""
    rows = results.traces(experiment)
    return sorted(set(zip(rows.p_alpha, rows.p_beta, strict=True)))


def gradient_norm(results, partition: str, centre: bool) -> pd.DataFrame:
    """GN-SHED over its constant b and the direction of its inequality."""
    experiment = "shed_gradient_norm" + ("_iid" if partition == "iid" else "")
    return select(results.traces(experiment), "gn_shed", LARGE, centre=centre)


def on_w8a(results) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """The readings of w8a, which knows no PCA: the choices, and the cells of all algorithms under them."""
    parts = {"skew": {}, "intercept": {"intercept": "yes"}}
    for part, words in parts.items():
        if offered(results, f"shed_w8a_{part}"):
            rows = results.traces(f"shed_w8a_{part}")
            for mu, cells in rows.groupby("mu"):
                yield w8a_choices(mu) | words, cells
    if offered(results, "shed_w8a_armijo"):
        rows = results.traces("shed_w8a_armijo")
        for alpha, beta in searches(results, "shed_w8a_armijo"):
            words = {"line_search": f"α {alpha}, β {beta}"}
            yield w8a_choices(LARGE) | words, select(rows, p_alpha=alpha, p_beta=beta)
    if offered(results, "shed_w8a_agents"):
        for _, cells in results.traces("shed_w8a_agents").groupby("setting"):
            yield w8a_choices(LARGE) | settled(cells), cells


def w8a_choices(mu) -> dict[str, str]:
    return {
        "μ": penalty(mu), "PCA": "none", "intercept": "no", "line_search": "usual",
        "number_of_agents": "usual", "single_class": "usual",
    }  # fmt: skip


def settled(cells: pd.DataFrame) -> dict[str, str]:
    """How the setting of these cells settles what is open, where it varies."""
    first = cells.iloc[0]
    words = {"μ": penalty(first.mu)} if "mu" in cells else {}
    words |= {"intercept": "yes" if first.intercept else "no"} if "intercept" in cells else {}
    words |= {"number_of_agents": str(first.agents)} if "agents" in cells else {}
    return words | ({"single_class": str(first.single)} if "single" in cells else {})


def songs(results, partition: str = "iid") -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """The least squares on songs: in the paper's shape, and on the few rows that can be had everywhere."""
    for name, words in (("msd", "songs"), ("songs", "a sample of songs")):
        if offered(results, f"shed_{name}_{partition}"):
            for _, cells in results.traces(f"shed_{name}_{partition}").groupby("setting"):
                yield {"data": words} | settled(cells), cells


def news(results) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """The ways of settling what is open of the least squares on news, and the traces run under each."""
    rows = results.traces("shed_news")
    for _, cells in rows[rows.algorithm == "shed_ls"].groupby("setting"):
        yield {"data": "news"} | settled(cells), cells


def increments(results) -> Iterator[tuple[dict[str, str], dict[str, pd.DataFrame]]]:
    """The choices, and the cells by increment d_t, of the comparisons of section 6.6."""
    for experiment, words in (
        ("shed_fmnist_increments", "uncentred"), ("shed_centred_increments", "centred"),
    ):  # fmt: skip
        if offered(results, experiment):
            rows = select(results.traces(experiment), "fib_shed")
            yield {"data": "FMNIST", "PCA": words}, by_increment(rows)
    for choices, rows in songs(results):
        yield choices, by_increment(select(rows, "shed_ls"))


def by_increment(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Cells by how many eigenpairs a round: one, three, six, thirty, random."""
    return {INCREMENTS[d]: cells for d, cells in rows.groupby("p_increment")}


def penalty(mu) -> str:
    return f"{float(mu):.0e}"


def number(value: float) -> str:
    return "not reached" if np.isinf(value) else "-" if np.isnan(value) else f"{value:,.0f}"


def periods(cells: pd.DataFrame, near: float = 1.0) -> list[float]:
    """The error's factor per iteration over every whole period of periodic renewals that lies above rounding and begins
    with at most a share `near` of the first error."""
    period = int(cells.p_period.iloc[0])
    error = cells.set_index("round").distance
    ends = [t for t in range(period - 1, int(error.index.max()) + 1, period) if t > 0 and error[t] > 1e-9]
    late = [(a, b) for a, b in pairwise(ends) if error[a] <= near * error[0]]
    return [float((error[b] / error[a]) ** (1 / period)) for a, b in late]
