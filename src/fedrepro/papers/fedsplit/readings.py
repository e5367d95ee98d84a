"""The numbers that claims and figures of Pathak & Wainwright both use."""

import numpy as np
import pandas as pd

ROUNDING = 1e-14  # of the starting gap: below it a curve says nothing
CLEARLY = 0.5  # what falls to less over the last fifth of its rounds is on no floor


def relative(rows: pd.DataFrame) -> pd.DataFrame:
    """The traces with `relative`, the gap over that of the same cell's start."""
    keys = ["setting", "algorithm", "params", "seed"]
    first = rows[rows["round"] == 0].set_index(keys).gap
    start = first.loc[list(rows[keys].itertuples(index=False, name=None))].to_numpy()
    return rows.assign(relative=rows.gap / start)


def floors(rows: pd.DataFrame) -> pd.DataFrame:
    """By cell: the median relative gap over the last fifth of the rounds, infinite where the cell diverged; `falling`
    where it is no floor yet, since the end of that fifth lies clearly below its beginning and above rounding."""
    rows = relative(rows)
    keys = [c for c in rows if c.startswith("p_")] + [
        "setting",
        "algorithm",
        "params",
        "seed",
        "data_origin",
        "status",
    ]
    late = rows[rows["round"] >= 0.8 * rows.groupby(["setting", "params"])["round"].transform("max")]
    cells = late.groupby(keys, dropna=False, sort=False).relative
    found = cells.agg(["median", "first", "last"]).reset_index()
    floor = found["median"].clip(lower=ROUNDING).where(found.status != "diverged", np.inf)
    falling = (found["last"] < CLEARLY * found["first"]) & (found["last"] > ROUNDING) & np.isfinite(floor)
    return found.assign(floor=floor, falling=falling)


def straightness(cells: pd.DataFrame) -> float:
    """R² of the log gap against the round over its later two thirds, as far as it is above rounding."""
    falling = cells[cells.gap > ROUNDING * cells.gap.iloc[0]]
    t, y = falling["round"].to_numpy(), np.log(falling.gap.to_numpy())
    third = len(t) // 3
    if len(t) - third < 3 or np.ptp(y[third:]) == 0:
        return float("nan")
    return float(np.corrcoef(t[third:], y[third:])[0, 1] ** 2)


def rounds_to(cells: pd.DataFrame, level: float) -> float:
    """The round at which the relative gap falls to `level`, between the rounds measured in proportion to its logarithm;
    infinite where it never does."""
    rounds, gaps = cells["round"].to_numpy(float), cells.relative.to_numpy()
    hit = np.flatnonzero(gaps <= level)
    if not len(hit):
        return np.inf
    k = int(hit[0])
    if k == 0 or gaps[k] <= 0:
        return float(rounds[k])
    part = np.log(level / gaps[k - 1]) / np.log(gaps[k] / gaps[k - 1])
    return float(rounds[k - 1] + part * (rounds[k] - rounds[k - 1]))


def exponents(ends: pd.DataFrame, x: str, start: float = 0.0) -> dict[int, float]:
    """By seed: the slope of log rounds against log x, from x = `start` on."""
    cells = ends.assign(x=ends[x].astype(float))
    cells = cells[cells.x >= start]
    return {
        int(seed): float(np.polyfit(np.log(c.x), np.log(c["round"]), 1)[0])
        for seed, c in cells.groupby("seed")
        if c.x.nunique() > 1
    }


def contraction(kappa: float) -> float:
    """1 − 2/(√κ + 1), the factor of Theorem 1."""
    return 1.0 - 2.0 / (np.sqrt(kappa) + 1.0)


def inner_contraction(kappa: float) -> float:
    """1 − 1/(√κ + 1), the factor of a gradient step in Corollary 1."""
    return 1.0 - 1.0 / (np.sqrt(kappa) + 1.0)
