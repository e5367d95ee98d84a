"""The numbers that claims and figures of Pathak & Wainwright both use."""

import numpy as np
import pandas as pd

ROUNDING = 1e-14  # of the starting gap: below it a curve says nothing


def relative(rows: pd.DataFrame) -> pd.DataFrame:
    """The traces with `relative`, the gap over that of the same cell's start."""
    keys = ["setting", "algorithm", "params", "seed"]
    first = rows[rows["round"] == 0].set_index(keys).gap
    start = first.loc[list(rows[keys].itertuples(index=False, name=None))].to_numpy()
    return rows.assign(relative=rows.gap / start)


def floors(rows: pd.DataFrame) -> pd.DataFrame:
    """By cell: the median relative gap over the last fifth of the rounds, infinite where the cell diverged."""
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
    found = late.groupby(keys, dropna=False, sort=False).relative.median().reset_index()
    return found.assign(floor=found.relative.where(found.status != "diverged", np.inf))


def straightness(cells: pd.DataFrame) -> float:
    """R² of the log gap against the round over its later two thirds, as far as it is above rounding."""
    falling = cells[cells.gap > ROUNDING * cells.gap.iloc[0]]
    t, y = falling["round"].to_numpy(), np.log(falling.gap.to_numpy())
    third = len(t) // 3
    if len(t) - third < 3 or np.ptp(y[third:]) == 0:
        return float("nan")
    return float(np.corrcoef(t[third:], y[third:])[0, 1] ** 2)


def rounds_to(cells: pd.DataFrame, level: float) -> float:
    """The first round at which the relative gap is at most `level`; infinite where it never is."""
    hit = cells[cells.relative <= level]
    return float(hit["round"].iloc[0]) if len(hit) else np.inf


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
