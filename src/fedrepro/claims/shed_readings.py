"""Readings of Dal Fabbro et al.: what the paper leaves open, each way of settling it, and how long things then take.

A reading is a choice of PCA centring, intercept and line-search constants. Verdicts are taken under every reading
that was run; one that changes between readings is `partly`.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fedrepro.claims import FAILED, PARTLY, REPRODUCED, UNTESTED

CONVERGED = 1e-10  # 'convergence' is not defined in the paper

FMNIST = {"iid": "shed_fmnist_iid", "skew": "shed_fmnist_skew"}
INTERCEPT = {"iid": "shed_intercept_iid", "skew": "shed_intercept_skew"}
ARMIJO = {"iid": "shed_armijo_iid", "skew": "shed_armijo_skew"}


def reach(cells: pd.DataFrame, column: str = "exchanges", level: float = CONVERGED) -> np.ndarray:
    """By seed: what `column` had come to when the gap first was at most `level`; inf where it never was.

    `hessians` is counted per agent.
    """
    found = []
    for _, rows in cells.groupby("seed"):
        rows = rows.sort_values("round")
        hit = rows[rows.gap <= level]
        value = float(hit[column].iloc[0]) if len(hit) else np.inf
        if column == "hessians":
            value /= rows[rows.hessians > 0].hessians.iloc[0]  # every agent's first
        found.append(value)
    return np.array(found)


@dataclass(frozen=True)
class Reading:
    """One way to settle the unstated choices on Fashion-MNIST, and the traces run under it."""

    results: object
    experiments: dict  # iid, skew -> experiment
    centre: bool
    params: tuple = ()  # hyper-parameters that select cells, ("p_alpha", "0.4") and so on
    intercept: bool = False

    @property
    def name(self) -> str:
        words = ["PCA centred" if self.centre else "PCA uncentred"]
        if self.intercept:
            words.append("intercept")
        words += [f"{k.removeprefix('p_')} = {v}" for k, v in self.params]
        return ", ".join(words)

    def cells(self, algorithm: str, partition: str, mu: float) -> pd.DataFrame:
        experiment = self.experiments[partition]
        if mu == 1e-8 and not self.intercept:
            experiment = "shed_fmnist_flat"
        rows = self.results.traces(experiment)
        rows = rows[(rows.algorithm == algorithm) & (rows.centre == self.centre)]
        if "mu" in rows and rows.mu.notna().any():
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
    found = [Reading(results, FMNIST, c) for c in (False, True)]
    found += [Reading(results, INTERCEPT, c, intercept=True) for c in (False, True)]
    if armijo:
        rows = results.traces(ARMIJO["skew"])
        pairs = rows[["p_alpha", "p_beta"]].drop_duplicates().itertuples(index=False)
        found += [
            Reading(results, ARMIJO, c, (("p_alpha", a), ("p_beta", b)))
            for a, b in pairs
            for c in (False, True)
        ]
    return found


def across(held: dict[str, bool | None]) -> tuple[str, str]:
    """The verdict over all readings and the words that name where it holds."""
    tested = {name: ok for name, ok in held.items() if ok is not None}
    if not tested:
        return UNTESTED, "no reading was run far enough"
    yes, no = [n for n, ok in tested.items() if ok], [n for n, ok in tested.items() if not ok]
    if not no:
        return REPRODUCED, f"holds under all {len(yes)} readings of the unstated choices"
    if not yes:
        return FAILED, f"fails under all {len(no)} readings of the unstated choices"
    return PARTLY, f"holds with {'; '.join(yes)}. Fails with {'; '.join(no)}"


def ratio(a: float, b: float) -> float | None:
    """a/b; inf where only a is infinite, None where neither or only b can be compared."""
    if np.isnan(a) or np.isnan(b) or np.isinf(b):
        return None
    return a / b


def times(value: float | None) -> str:
    if value is None:
        return "-"
    return "beyond the budget" if np.isinf(value) else f"{value:.2g}x"


def number(value: float) -> str:
    return "not reached" if np.isinf(value) else "-" if np.isnan(value) else f"{value:,.0f}"
