"""Learning-rate grids: which point wins by the paper's criterion, from the traces every point left."""

import numpy as np
import pandas as pd

RATES = ["p_client_rate", "p_server_rate"]


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
    rows: pd.DataFrame, metric: str, last: int, highest: bool = False, rates=None
) -> dict[str, tuple]:
    """Algorithm -> its best grid point: the mean over seeds of the mean over the last rounds.

    A point that diverged for any seed cannot win.
    """
    rates = [r for r in (rates or RATES) if r in rows]
    means = tail_means(rows, [metric], last, ["algorithm", *rates, "seed"])[metric]
    score = means.groupby(["algorithm", *rates], sort=False).agg(lambda s: s.mean(skipna=False)).dropna()
    chosen = {}
    for name, points in score.groupby("algorithm", sort=False):
        best = points.idxmax() if highest else points.idxmin()
        chosen[name] = best[1:]
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


def pattern(results, experiment: str, which: int) -> tuple[pd.DataFrame, list[dict]]:
    """Rows and references of the `which`-th setting of an experiment: LASSO (I), (II), (III) and so on."""
    rows, table = results.traces(experiment), results.reference(experiment)
    settings = list(rows.setting.unique())
    chosen = settings[min(which, len(settings) - 1)]
    return rows[rows.setting == chosen], [ref for (name, _), ref in table.items() if name == chosen]


def settled(rows: pd.DataFrame, column: str, meets, hold: int = 10) -> pd.Series:
    """Round from which `meets(value)` holds for `hold` records on end, by seed and rates; inf where never.

    A single hit is fragile: a noisy curve touches its target long before it stays there.
    """
    keys = [*(r for r in RATES if r in rows), "seed"]
    found = {}
    for key, cells in rows.groupby(keys, sort=False):
        good = meets(cells[column].to_numpy())
        n = min(hold, len(good))
        runs = np.convolve(good, np.ones(n), "valid") >= n - 0.5
        first = np.argmax(runs) if runs.any() and cells.status.iloc[0] != "diverged" else None
        found[key] = np.inf if first is None else float(cells["round"].iloc[first])
    return pd.Series(found.values(), index=pd.MultiIndex.from_tuples(found, names=keys))


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
