"""Readings of Dal Fabbro et al.: what the paper leaves open, each way of settling it, and how long things then take.

A reading is a choice of PCA centring, intercept and line-search constants. Verdicts are taken under every reading
that was run; one that changes between readings is `partly`.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fedrepro.claims import FAILED, PARTLY, REPRODUCED, UNTESTED, Finding

CONVERGED = 1e-10  # 'convergence' is not defined in the paper

FMNIST = {"iid": "shed_fmnist_iid", "skew": "shed_fmnist_skew", "flat": "shed_fmnist_flat"}
CENTRED = {"iid": "shed_centred_iid", "skew": "shed_centred_skew", "flat": "shed_centred_flat"}
INTERCEPT = {"iid": "shed_intercept_iid", "skew": "shed_intercept_skew"}
GREEK = {"p_alpha": "α", "p_beta": "β"}
ARMIJO = {"iid": "shed_armijo_iid", "skew": "shed_armijo_skew"}


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
class Factor:
    """How many times as much of something one method takes as another. Where one of the two had not converged when
    its budget ended, the number is a bound, and may leave a question open (None)."""

    value: float
    bound: str = ""  # "at least", "at most"
    level: float = CONVERGED  # the cost to which both were measured

    def above(self, limit: float) -> bool | None:
        if self.bound == ("at least" if self.value <= limit else "at most"):
            return None
        return self.value > limit

    def below(self, limit: float) -> bool | None:
        if self.bound == ("at least" if self.value < limit else "at most"):
            return None
        return self.value < limit

    def __str__(self):
        to = f" (to {self.level:.0e})" if self.level != CONVERGED else ""
        return f"{self.bound} {self.value:.3g}x{to}".strip()


def factor(one: pd.DataFrame, other: pd.DataFrame, column="exchanges", level=CONVERGED) -> Factor | None:
    """What `one` takes to the level over what `other` takes, medians over seeds; None where one was not run.

    Where neither gets there, the level is the cost at which the worse of them ended.
    """
    if not len(one) or not len(other):
        return None
    (a, reached), (b, as_well) = needed(one, column, level), needed(other, column, level)
    if not (reached or as_well):
        ends = [float(cells.groupby("seed").gap.min().median()) for cells in (one, other)]
        return factor(one, other, column, max(ends))
    return Factor(a / b, "" if reached and as_well else "at most" if reached else "at least", level)


def needed(cells: pd.DataFrame, column: str, level: float = CONVERGED) -> tuple[float, bool]:
    """The median over seeds of what it takes to reach the level, or of what was spent where half of them do not."""
    found = float(np.median(reach(cells, column, level)))
    if np.isfinite(found):
        return found, True
    return float(np.median(spent(cells, column))), False


def all_of(*tests: bool | None) -> bool | None:
    """True where all hold, False where one fails, and None where it hangs on one that is open."""
    return False if False in tests else None if None in tests else True


@dataclass(frozen=True)
class Reading:
    """One way to settle the unstated choices on Fashion-MNIST, and the traces run under it."""

    results: object
    experiments: dict  # iid, skew (and flat, with almost no regularisation) -> experiment
    centre: bool
    params: tuple = ()  # hyper-parameters that select cells, ("p_alpha", "0.4") and so on
    intercept: bool = False

    @property
    def name(self) -> str:
        words = ["PCA centred" if self.centre else "PCA uncentred"]
        if self.intercept:
            words.append("intercept")
        words += [f"{GREEK[k]} = {v}" for k, v in self.params]
        return ", ".join(words)

    def cells(self, algorithm: str, partition: str, mu: float) -> pd.DataFrame:
        flat = mu == 1e-8 and "flat" in self.experiments
        rows = self.results.traces(self.experiments["flat" if flat else partition])
        rows = rows[(rows.algorithm == algorithm) & (rows.centre == self.centre)]
        rows = rows[np.isclose(rows.mu.astype(float), mu)]
        for column, value in self.params:
            rows = rows[rows[column] == value]
        return rows

    def reach(self, algorithm, partition, mu, column="exchanges", level=CONVERGED) -> np.ndarray:
        return reach(self.cells(algorithm, partition, mu), column, level)

    def rounds(self, algorithm, partition, mu, column="exchanges") -> float:
        """The median over seeds, inf where half of them do not converge."""
        found = self.reach(algorithm, partition, mu, column)
        return float(np.median(found)) if len(found) else float("nan")


def readings(results, armijo: bool = False) -> list[Reading]:
    """The base readings and those with an intercept; with `armijo`, also those with other line searches."""
    found = [Reading(results, FMNIST, False), Reading(results, CENTRED, True)]
    found += [Reading(results, INTERCEPT, c, intercept=True) for c in (False, True)]
    if armijo:
        rows = results.traces(ARMIJO["skew"])
        for alpha, beta in rows[["p_alpha", "p_beta"]].drop_duplicates().itertuples(index=False):
            found.append(Reading(results, ARMIJO, False, (("p_alpha", alpha), ("p_beta", beta))))
    return found


def across(held: dict[str, bool | None]) -> tuple[str, str]:
    """The verdict over all readings and the words that name where it holds."""
    yes, no, unknown = ([n for n, ok in held.items() if ok is v] for v in (True, False, None))
    unsettled = f" Open within the budget with {'; '.join(unknown)}" if unknown else ""
    if not yes and not no:
        return UNTESTED, "no reading was run far enough"
    if not (yes and no):
        readings = "both" if len(yes + no) == 2 else f"all {len(yes + no)}"
        verdict, holds = (REPRODUCED, "holds") if yes else (FAILED, "fails")
        return verdict, f"{holds} under {readings} readings of the unstated choices.{unsettled}".rstrip(".")
    return PARTLY, f"holds with {'; '.join(yes)}. Fails with {'; '.join(no)}.{unsettled}".rstrip(".")


def songs_as_run(results) -> str:
    """What the songs really were, for the reasons that quote them."""
    ((title, origin),) = results.origins("shed_msd_iid").items()
    return f"songs ({title}: {origin}, which tests nothing)" if origin == "standin" else f"songs ({origin})"


def besides_that(found: Finding, words: str) -> Finding:
    return Finding(found.value, found.verdict, f"{found.why}; {words}", found.held)


def number(value: float) -> str:
    return "not reached" if np.isinf(value) else "-" if np.isnan(value) else f"{value:,.0f}"
