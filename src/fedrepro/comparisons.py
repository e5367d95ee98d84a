"""Who wins by how much, by outer iteration and by time: section 5.2 of Overman, Blum & Klabjan 2023.

Time is modelled as in the paper: computation as measured, latency for every exchange, encryption for every
encrypted scalar. Clients work side by side, so that the busiest one counts and measured computation is shared.
"""

import numpy as np
import pandas as pd

from fedrepro.ciphers import SLOTS
from fedrepro.problems.hyfdca import read_clients
from fedrepro.results import Results

DATASETS = ("hyfdca_mnist", "hyfdca_newsgroups", "hyfdca_covtype")
METHODS = ("hyfdca", "fedavg_hybrid", "hyfem")
METRICS = ("relative_loss", "accuracy")
TAIL = 0.1  # "last" is the mean over this last part of the rounds: some runs oscillate
CHARGES = ("published", "published, one a vector", "paillier, measured", "ckks, measured", "none")


def encryption_times(results: Results) -> dict[str, dict[str, float]]:
    """Seconds per scalar: as published, and as measured where the run was made."""
    table = results.reference("hyfdca_encrypted")
    times = {}
    for (setting, _), ref in table.items():
        cipher = setting.removeprefix("cipher=")
        times["published"] = {k: ref[f"published {k} seconds"] for k in ("encrypt", "decrypt", "add")}
        if cipher != "none":
            times[f"{cipher}, measured"] = {k: ref[f"{k} seconds"] for k in ("encrypt", "decrypt", "add")}
    return times


def components(rows: pd.DataFrame, latency: float, charge: str, times: dict) -> pd.DataFrame:
    """Seconds of computation, latency and encryption up to each row."""
    found = pd.DataFrame({
        "computation": rows.seconds * rows["round"] / rows.turns.clip(lower=1),
        "latency": latency * rows.exchanges,
        "encryption": 0.0,
    })  # fmt: skip
    if charge == "published, one a vector":
        cost = times["published"]
        found["encryption"] = (
            rows.encryption_steps * cost["encrypt"] + rows.decryption_steps * cost["decrypt"]
        )
    elif charge != "none":
        cost = times[charge]
        padded = rows if not charge.startswith("ckks") else whole_packs(rows)
        found["encryption"] = (
            padded.slowest_encryptions * cost["encrypt"]
            + padded.slowest_decryptions * cost["decrypt"]
            + rows.additions * cost["add"]
        )
    return found


def seconds_a_round(cells: pd.DataFrame) -> float:
    """As measured; the first round, in which code may be compiled, is left out."""
    timed = cells[cells["round"] >= 1]
    return float(timed.seconds.diff().sum() / timed["round"].diff().sum())


def whole_packs(rows: pd.DataFrame) -> pd.DataFrame:
    """The scalars of the busiest client rounded up, step by step, to packs: a half-empty one costs as much."""
    padded = {}
    for work in ("encryption", "decryption"):
        steps, scalars = rows[f"{work}_steps"].clip(lower=1), rows[f"slowest_{work}s"]
        padded[f"slowest_{work}s"] = steps * SLOTS * np.ceil(scalars / steps / SLOTS)
    return pd.DataFrame(padded)


def clock(results: Results, experiment: str, charge: str, times: dict | None = None) -> pd.DataFrame:
    """The traces of one dataset with a column `time`, in seconds of the modelled federation."""
    rows = results.traces(experiment)
    latency = next(iter(results.reference(experiment).values()))["latency"]
    parts = components(rows, latency, charge, times or encryption_times(results))
    return rows.assign(time=parts.sum(axis=1))


def score(cells: pd.DataFrame, metric: str, iterate: str) -> float:
    """One cell's figure of merit, to be small: its loss or its error rate, at the end or at its best round."""
    values = cells[metric].to_numpy()
    values = values if metric == "relative_loss" else 1.0 - values
    if iterate == "best":
        return float(np.nanmin(values))
    if cells.status.iloc[0] == "diverged":
        return float("inf")
    return float(np.mean(values[-max(1, int(TAIL * len(values))) :]))


def in_order(names) -> list[str]:
    """Settings from easy to hard: by how many clients there are and how few of them are available."""
    return sorted(names, key=lambda s: (read_clients(s)[0] * read_clients(s)[1], -read_clients(s)[2]))


def by_setting(rows: pd.DataFrame):
    return [(name, rows[rows.clients == name]) for name in in_order(rows.clients.unique())]


def by_iteration(
    results: Results, tuned_for: str = "gra", iterate: str = "last", share: float = 1.0
) -> pd.DataFrame:
    """The 36 comparisons over equal numbers of outer iterations: a row per dataset, setting, metric and rival.
    `share` ends all runs earlier, after that part of the rounds."""
    found = []
    for name in DATASETS:
        rows = results.traces(name)
        rows = rows[rows["round"] <= share * rows["round"].max()]
        for setting, cells in by_setting(rows[rows.p_tuned_for == tuned_for]):
            for metric in METRICS:
                ours = scores(cells[cells.algorithm == "hyfdca"], metric, "last")
                for rival in METHODS[1:]:
                    theirs = scores(cells[cells.algorithm == rival], metric, iterate)
                    found.append(compared(rows, setting, metric, rival, ours, theirs))
    return pd.DataFrame(found)


def by_time(results: Results, charge: str, budget: str, tuned_for: str = "gra") -> pd.DataFrame:
    """The 36 comparisons under equal time. The budget is what HyFDCA's rounds take, or what the rival's do;
    whoever ends earlier stands at its last point. `rounds` are HyFDCA's recorded rounds within the budget."""
    found, times = [], encryption_times(results)
    for name in DATASETS:
        rows = clock(results, name, charge, times)
        for setting, cells in by_setting(rows[rows.p_tuned_for == tuned_for]):
            for metric in METRICS:
                for rival in METHODS[1:]:
                    pair = {m: cells[cells.algorithm == m] for m in ("hyfdca", rival)}
                    ends = pair["hyfdca" if budget == "hyfdca" else rival].groupby("seed").time.max()
                    ours, theirs = (
                        pd.Series({
                            seed: score(one[one.time <= ends[seed] * (1 + 1e-12)], metric, "last")
                            for seed, one in pair[m].groupby("seed")
                        })
                        for m in ("hyfdca", rival)
                    )  # fmt: skip
                    within = pair["hyfdca"].seed.map(ends) >= pair["hyfdca"].time
                    made = within.groupby(pair["hyfdca"].seed).sum() - 1
                    found.append(
                        compared(rows, setting, metric, rival, ours, theirs) | {"rounds": made.median()}
                    )
    return pd.DataFrame(found)


def scores(cells: pd.DataFrame, metric: str, iterate: str) -> pd.Series:
    return pd.Series({seed: score(one, metric, iterate) for seed, one in cells.groupby("seed")})


def compared(rows, setting, metric, rival, ours: pd.Series, theirs: pd.Series) -> dict:
    """Both medians, and in how many seeds HyFDCA is strictly ahead."""
    return {
        "dataset": rows.dataset.iloc[0],
        "clients": setting,
        "metric": metric,
        "rival": rival,
        "hyfdca": ours.median(),
        "theirs": theirs.median(),
        "seeds_won": int((ours < theirs).sum()),
        "seeds": len(ours),
        "wins": bool(ours.median() < theirs.median()),
    }
