"""Numbers that claims and figures of this paper share: which rates win by a criterion, what they end at, how soon.

Ties between points of a grid go to the earlier one, the smaller client rate and then the smaller server rate, or where
asked for (`late`) to the last.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fedrepro.papers.fco import theory
from fedrepro.reporting.evidence import origin_of

FOUR = ("feddualavg", "feddualavg_osp", "fedmid", "fedmid_osp")
FIVE = ("feddualavg", "feddualavg_osp", "fedmid", "fedmid_once", "fedmid_osp")
SCANNERS = ("local", "fedavg_subgradient", *FIVE, "centralised")  # on brain scans
MIRROR = {"fedmid": "as printed", "fedmid_once": "regularised once"}  # the two FedMiDs, as a choice
RATES = ["p_client_rate", "p_server_rate"]
CRITERIA = {"recovery error": ("error", False), "F1": ("f1", True)}  # B.2.1 and section 5.1
NUMERALS = ("I", "II", "III", "IV")


def last_rounds(rows: pd.DataFrame) -> int:
    """The paper's 100 of 500 rounds, in proportion where fewer are run."""
    return max(1, int(rows["round"].max()) // 5)


def tail_means(rows: pd.DataFrame, columns: list[str], last: int, keys: list[str]) -> pd.DataFrame:
    """Means over the last `last` rounds of every cell that ran to the end; diverged cells give NaN."""
    top = rows["round"].max()
    finished = rows[(rows["round"] > top - last) & (rows.status != "diverged")]
    cells = rows.groupby(keys, sort=False).size().index
    return finished.groupby(keys, sort=False)[columns].mean().reindex(cells)


def winners(
    rows: pd.DataFrame, metric: str, last: int, highest: bool = False, rates=None, late: bool = False
) -> dict[str, tuple]:
    """Algorithm -> its best grid point: the mean over seeds of the mean over the last rounds.

    A point that diverged for any seed cannot win. `late`: of equals the last, not the first.
    """
    rates = [r for r in (rates or RATES) if r in rows]
    means = tail_means(rows, [metric], last, ["algorithm", *rates, "seed"])[metric]
    score = means.groupby(["algorithm", *rates], sort=False).agg(lambda s: s.mean(skipna=False)).dropna()
    chosen = {}
    for name, points in score.groupby("algorithm", sort=False):
        best = points[points == (points.max() if highest else points.min())].index
        chosen[name] = best[-1 if late else 0][1:]
    return chosen


def won(rows: pd.DataFrame, chosen: dict[str, tuple], rates=None) -> pd.DataFrame:
    """The rows of the winning points only."""
    rates = [r for r in (rates or RATES) if r in rows]
    parts = []
    for name, point in chosen.items():
        part = rows[rows.algorithm == name]
        for column, value in zip(rates, point, strict=True):
            part = part[part[column] == value]
        parts.append(part)
    return pd.concat(parts)


def pattern(results, experiment: str, which: int) -> tuple[pd.DataFrame, list]:
    """Rows and references of the `which`-th setting of an experiment: LASSO (I), (II), (III) and so on."""
    rows, table = results.traces(experiment), results.reference(experiment)
    settings = list(rows.setting.unique())
    chosen = settings[min(which, len(settings) - 1)]
    return rows[rows.setting == chosen], [ref for (name, _), ref in table.items() if name == chosen]


@dataclass
class Dataset:
    """LASSO or low rank (I) to (IV) at one penalty of the band."""

    place: float  # in the band
    rows: pd.DataFrame  # of the five methods
    references: dict[int, object]  # by seed

    @property
    def penalty(self) -> str:
        return f"{self.place:g}"


def mirrors(five: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """FedMiD as printed and regularised once, each as `fedmid` among the paper's four."""
    for name, words in MIRROR.items():
        rows = five[five.algorithm.isin([name, *(set(FOUR) - {"fedmid"})])]
        if (rows.algorithm == name).any():
            yield words, rows.assign(algorithm=rows.algorithm.replace(name, "fedmid"))


def over_band(results, kind: str, numeral: str, band: bool = True) -> Iterator[Dataset]:
    """One dataset of a kind (`lasso`, `lowrank`) at every penalty that was run: the middle of the band, then its ends."""
    four = "4" if numeral == "IV" else ""
    which = 0 if four else NUMERALS.index(numeral)
    experiment = f"fco_{kind}{four}"
    rows, table = results.traces(experiment), results.reference(experiment)
    settings = list(rows.setting.unique())
    chosen = settings[min(which, len(settings) - 1)]
    yield Dataset(0.5, five(rows[rows.setting == chosen]), at_setting(table, chosen))
    if not band:
        return
    rows, table = results.traces(f"{experiment}_band"), results.reference(f"{experiment}_band")
    truth = {"lasso": "ones", "lowrank": "true_rank"}[kind]
    if truth in rows:
        values = list(rows[truth].unique())
        rows = rows[rows[truth] == values[min(which, len(values) - 1)]]
    for (place, setting), part in rows.groupby(["place", "setting"]):
        yield Dataset(float(place), five(part), at_setting(table, setting))


def five(rows):
    """A reader's own algorithms have no say in a claim."""
    return rows[rows.algorithm.isin(FIVE)]


def at_setting(table, setting) -> dict[int, object]:
    return {seed: ref for (name, seed), ref in table.items() if name == setting}


def tuned(
    rows: pd.DataFrame, criterion: str, highest: bool = False, rates=None, late: bool = False
) -> pd.DataFrame:
    """The rows of every algorithm at its best rates by a criterion."""
    best = winners(rows, criterion, last_rounds(rows), highest, rates, late)
    return won(rows, best, rates) if best else rows.iloc[:0]


def ends(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Means over the last rounds, by algorithm and seed."""
    return tail_means(rows, columns, last_rounds(rows), ["algorithm", "seed"])


def by_seed(means: pd.Series) -> Iterator[tuple[int, pd.Series]]:
    """(seed, values by algorithm)."""
    for seed, part in means.groupby("seed"):
        yield seed, part.droplevel("seed").dropna()


def settled(rows: pd.DataFrame, column: str, meets, hold: int = 10) -> pd.Series:
    """Round from which `meets(value)` holds for `hold` records on end (a quarter of them, where there are few), by seed and
    rates; inf where never.

    A single hit is fragile: a noisy curve touches its target long before it stays there.
    """
    keys = [*(r for r in RATES if r in rows), "seed"]
    found = {}
    for key, cells in rows.groupby(keys, sort=False):
        found[key] = first_round(cells, column, meets, hold)
    return pd.Series(found.values(), index=pd.MultiIndex.from_tuples(found, names=keys), dtype=float)


def first_round(cells: pd.DataFrame, column: str, meets, hold: int = 10) -> float:
    good = meets(cells[column].to_numpy())
    n = min(hold, max(1, len(good) // 4))
    runs = np.convolve(good, np.ones(n), "valid") >= n - 0.5
    if not runs.any() or cells.status.iloc[0] == "diverged":
        return np.inf
    return float(cells["round"].iloc[np.argmax(runs)])


def soonest(rows: pd.DataFrame, column: str, meets) -> dict[int, float]:
    """By seed, at the pair of rates that is the quickest in its slowest seed."""
    every = settled(rows, column, meets).sort_index()
    if not len(every):
        return {}
    best = every.groupby(level=[n for n in every.index.names if n != "seed"]).max().idxmin()
    return every.loc[best].to_dict()


def wait(cells: pd.DataFrame, column: str, meets) -> dict[int, float]:
    """By seed, for one algorithm at given rates."""
    return {seed: first_round(part, column, meets) for seed, part in cells.groupby("seed")}


def fmri_rates(name: str) -> list[str]:
    return {"local": ["p_rate", "p_client"], "centralised": ["p_rate"]}.get(name, RATES)


def fmri_winners(rows: pd.DataFrame) -> dict[str, tuple]:
    """B.4.1: the lowest validation loss at the last round."""
    best = {}
    for name, cells in rows.groupby("algorithm", sort=False):
        if set(fmri_rates(name)) <= set(cells.columns[cells.notna().any()]):  # a reader's own may have others
            best |= winners(cells, "loss", 1, rates=fmri_rates(name))
    return best


def in_band(rows: pd.DataFrame) -> pd.DataFrame:
    """The pairs of rates with a product in [0.003, 0.3], as in B.4.2."""
    rows = rows[rows.p_client_rate.notna() & rows.p_server_rate.notna()]
    product = rows.p_client_rate.astype(float) * rows.p_server_rate.astype(float)
    return rows[(product >= 0.003 * (1 - 1e-9)) & (product <= 0.3 * (1 + 1e-9))]


# --- fMRI: two ways to hold sessions out ---

SPLITS = {"fco_fmri": "a fixed set", "fco_fmri_left": "one session after the other"}


def scans(results) -> Iterator[tuple[str, pd.DataFrame]]:
    """(which sessions are held out, the traces)."""
    for experiment, words in SPLITS.items():
        yield words, results.traces(experiment)


def scan_ends(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Algorithm -> its last round by seed, at its best rates."""
    found = {}
    for name, point in fmri_winners(rows).items():
        cells = won(rows[rows.algorithm == name], {name: point}, fmri_rates(name))
        found[name] = cells[cells["round"] == cells["round"].max()].set_index("seed")
    return found


def configurations(rows: pd.DataFrame) -> pd.DataFrame:
    """The last round of every pair of rates in the band of B.4.2: what Figure 12 shows; a diverged pair is neither sparse nor
    accurate."""
    cells = in_band(rows[rows.algorithm.isin(FIVE)])
    last = cells.groupby(["algorithm", *RATES, "seed"], sort=False).tail(1).copy()
    last.loc[last.status == "diverged", ["density", "accuracy"]] = (1.0, 0.0)
    return last


def share_good(last: pd.DataFrame, sparse: float, short: float) -> pd.Series:
    """By algorithm and seed: the share of pairs at most `sparse` dense and at most `short` less accurate than the best pair
    of any method."""
    top = last.groupby("seed").accuracy.transform("max")
    good = (last.density <= sparse) & (last.accuracy >= top - short)
    return good.groupby([last.algorithm, last.seed]).mean()


# --- the theorems ---


def bound_cells(results, experiment: str) -> Iterator[tuple[dict, dict, pd.DataFrame]]:
    """(choices, constants, rows after round 0) of every cell; rates as numbers, the share of them that was asked for in the
    choices."""
    table, rows = results.reference(experiment), results.traces(experiment)
    for (setting, name, params, seed), cells in rows.groupby(
        ["setting", "algorithm", "params", "seed"], sort=False
    ):
        c = table[setting, seed].constants
        first = cells.iloc[0]
        asked = dict(part.split("=") for part in params.split(","))["client_rate"]
        choices = {
            "algorithm": name, "seed": seed, "origin": origin_of(cells), "loss": first.loss, "share": asked,
            "gradients": "of batches" if c["sigma2"] else "in full", "local steps": f"{c['K']:g}",
            "rate": float(first.p_client_rate), "product": float(first.p_client_rate) * float(first.p_server_rate),
        }  # fmt: skip
        yield choices, c, cells[cells["round"] > 0]


def local_bound(c: dict, loss: str, rate: float, R):
    """The theorem that speaks of this loss."""
    rule = theory.quadratic_bound if loss == "quadratic" else theory.bounded_gradient_bound
    return rule(c, rate, R)
