"""Learning-rate grids: which point wins by the paper's criterion, from the traces every point left."""

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
