"""Who wins by how much, by outer iteration and by time: section 5.2 of Overman, Blum & Klabjan 2023.

Time is modelled as in the paper: computation as measured, latency for every exchange, encryption for every
encrypted scalar. Clients work side by side, so that the busiest one counts and measured computation is shared.
"""

from functools import cache

import numpy as np
import pandas as pd

from fedrepro.datasets.partition import read_grid
from fedrepro.experiments.results import Results
from fedrepro.federation.ciphers import SLOTS, WORKS
from fedrepro.papers.hyfdca.problems import TAIL

DATASETS = ("hyfdca_mnist", "hyfdca_newsgroups", "hyfdca_covtype")
FEWER_ROWS = "hyfdca_covtype_100k"
LONG = ("hyfdca_long_mnist", "hyfdca_long_newsgroups", "hyfdca_long_covtype")
METHODS = ("hyfdca", "fedavg_hybrid", "hyfem")
METRICS = ("relative_loss", "accuracy")
ONWARD = "_onward"  # the rivals' runs of many more rounds
EARLIER = (0.25, 0.5, 1.0)  # parts of the rounds: their number is not stated
COMPARED = [
    "dataset",
    "data_origin",
    "clients",
    "seed",
    "algorithm",
    "p_tuned_for",
    "status",
    "round",
    *METRICS,
]
CHARGES = ("published", "published, one a vector", "paillier, measured", "ckks, measured", "none")


def equal_rounds(results: Results, experiment: str) -> pd.DataFrame:
    """The traces of one dataset in which all methods run the same number of outer iterations."""
    rows = results.traces(experiment)
    return rows[~rows.algorithm.str.endswith(ONWARD)]


def more_rounds(results: Results, experiment: str) -> pd.DataFrame:
    """The longer runs of all methods, as far as the shortest of them goes, under the methods' own names."""
    rows = results.traces(experiment)
    rows = rows[rows.algorithm.str.endswith(ONWARD)]
    rows = rows.assign(algorithm=rows.algorithm.str.removesuffix(ONWARD))
    return rows[rows["round"] <= rows.groupby("algorithm")["round"].max().min()]


@cache
def after(results: Results, experiment: str) -> dict[int, pd.DataFrame]:
    """Rounds -> the traces of all methods up to there: parts of the rounds tuned for, and the longer runs."""
    rows, onward = (found(results, experiment)[COMPARED] for found in (equal_rounds, more_rounds))
    last = int(rows["round"].max())
    found = {int(part * last): rows[rows["round"] <= part * last] for part in EARLIER}
    return found if onward.empty else found | {int(onward["round"].max()): onward}


def about(experiment: str) -> dict[str, str]:
    """The dataset of one of the experiments above, and how many of its rows, as choices of a reading."""
    name, _, rows = experiment.removeprefix("hyfdca_").partition("_")
    return {"dataset": name, "rows": rows or "all"}


def grids(table: np.ndarray) -> dict[str, np.ndarray]:
    """Which lines of a rival's table of tuning (local steps, a, b, …, scores) narrower grids would have had."""
    a, b = table[:, 1], table[:, 2]
    return {
        "a up to 1, one b": (a <= 1) & (b == b.min()),
        "a up to 10, one b": (a <= 10) & (b == b.min()),
        "all": np.full(len(table), True),
    }


def encryption_times(results: Results) -> dict[str, dict[str, float]]:
    """Seconds per scalar: as published, and as measured where the run was made."""
    table = results.reference("hyfdca_encrypted")
    times = {}
    for (setting, _), ref in table.items():
        cipher = setting.removeprefix("cipher=")
        times["published"] = {k: ref.facts[f"published {k} seconds"] for k in ("encrypt", "decrypt", "add")}
        if cipher != "none":
            works = ("encrypt", "decrypt", "add", "refresh")
            times[f"{cipher}, measured"] = {k: ref.facts[f"{k} seconds"] for k in works}
    return times


def key_bits(results: Results) -> float:
    """The length of the Paillier keys that were timed."""
    return max(ref.facts.get("timed bits", 0) for ref in results.reference("hyfdca_encrypted").values())


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
            + rows.decryptions * cost.get("refresh", 0.0)  # by the server, for every client apart
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


def clock(
    results: Results, experiment: str, charge: str, times: dict | None = None, latency: float | None = None
) -> pd.DataFrame:
    """The traces of one dataset with a column `time`, in seconds of the modelled federation."""
    rows = results.traces(experiment)
    if latency is None:
        latency = next(iter(results.reference(experiment).values())).facts["latency"]
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
    return sorted(names, key=lambda s: (read_grid(s)[0] * read_grid(s)[1], -read_grid(s)[2]))


def by_setting(rows: pd.DataFrame):
    return [(name, rows[rows.clients == name]) for name in in_order(rows.clients.unique())]


def by_iteration(
    results: Results,
    tuned_for: str = "gra",
    iterate: str = "last",
    rounds: int = EARLIER.index(1.0),
    datasets: tuple[str, ...] = DATASETS,
) -> pd.DataFrame:
    """The 36 comparisons over equal numbers of outer iterations: a row per dataset, setting, metric and rival.
    `rounds` says which of `after`; if nothing else is said, those that were tuned for."""
    found = []
    for name in datasets:
        rows = list(after(results, name).values())[rounds]
        table = merits(results, name, rounds).loc[tuned_for]
        for setting in in_order(table.index.unique("clients")):
            for metric in METRICS:
                ours = table.loc[setting, "hyfdca"][metric, "last"]
                for rival in METHODS[1:]:
                    theirs = table.loc[setting, rival][metric, iterate]
                    found.append(compared(rows, setting, metric, rival, ours, theirs))
    return pd.DataFrame(found)


@cache
def merits(results: Results, experiment: str, rounds: int) -> pd.DataFrame:
    """The score of every cell by either metric, at its last and at its best round."""
    keys = ["p_tuned_for", "clients", "algorithm", "seed"]
    of_cells = {
        key: {
            (metric, iterate): score(cell, metric, iterate)
            for metric in METRICS
            for iterate in ("last", "best")
        }
        for key, cell in list(after(results, experiment).values())[rounds].groupby(keys)
    }
    return pd.DataFrame.from_dict(of_cells, orient="index").rename_axis(index=keys)


def by_time(results: Results, charge: str, budget: str, tuned_for: str = "gra") -> pd.DataFrame:
    """The 36 comparisons under equal time. The budget is what HyFDCA's rounds take, or what as many of the rival's do;
    rivals go on into their longer runs where they have time left. `rounds` are HyFDCA's recorded rounds within it."""
    found, times = [], encryption_times(results)
    for name in DATASETS:
        rows = clock(results, name, charge, times)[[*COMPARED, "time"]]
        for setting, cells in by_setting(rows[rows.p_tuned_for == tuned_for]):
            runs = {m: dict(list(own.groupby("seed"))) for m, own in cells.groupby("algorithm")}
            for metric in METRICS:
                for rival in METHODS[1:]:
                    bounded = runs["hyfdca" if budget == "hyfdca" else rival]
                    ends = {seed: one.time.max() for seed, one in bounded.items()}
                    ours, theirs = (
                        {seed: until(ends[seed], one) for seed, one in own.items()}
                        for own in (runs["hyfdca"], runs.get(rival + ONWARD, runs[rival]))
                    )
                    scored = (
                        pd.Series({seed: score(one, metric, "last") for seed, one in own.items()})
                        for own in (ours, theirs)
                    )
                    made = np.median([len(one) - 1 for one in ours.values()])
                    found.append(compared(rows, setting, metric, rival, *scored) | {"rounds": made})
    return pd.DataFrame(found)


def until(end: float, run: pd.DataFrame) -> pd.DataFrame:
    """The rounds of one run that are over after `end` seconds."""
    return run.iloc[: np.searchsorted(run.time, end * (1 + 1e-12), side="right")]


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


SETTLED = 0.01  # a loss that moved by less than this in the last half of its rounds will not move much more


def ending(cells: pd.DataFrame) -> str:
    """How a run ended: `diverged`; `turned`, its best loss lying before the last tenth; `settled`; or `falling`, where
    more rounds would change something."""
    if cells.status.iloc[0] == "diverged":
        return "diverged"
    loss = cells.relative_loss.to_numpy()
    tail = loss[-max(1, len(loss) // 10) :]
    half = loss[len(loss) // 2]
    if loss.min() < tail.min():
        return "turned"
    return "settled" if abs(tail.min() - half) <= SETTLED * abs(half) else "falling"


def time_runs_out(results: Results, charge: str, latency: float) -> pd.Series:
    """How the rivals' longest runs stand when as much time is gone as HyFDCA's rounds take: `time used up`, or as they
    ended before. Counts over datasets, settings and seeds."""
    found: list[str] = []
    times = encryption_times(results)
    for name in DATASETS:
        rows = clock(results, name, charge, times, latency)
        for _, own in rows[rows.p_tuned_for == "gra"].groupby(["clients", "seed"]):
            runs = dict(list(own.groupby("algorithm")))
            for rival in METHODS[1:]:
                theirs = runs[rival + ONWARD]
                enough = theirs.time.max() >= runs["hyfdca"].time.max()
                found.append("time used up" if enough else ending(theirs))
    return pd.Series(found).value_counts()


def ahead(ours: pd.DataFrame, theirs: pd.DataFrame, end: float, metric: str) -> bool | None:
    """Whether `ours` is ahead when `end` seconds are used up. A run that is shorter counts as it ended if more rounds
    would change little; otherwise None, unless it is ahead already."""
    within = [until(end, cells) for cells in (ours, theirs)]
    wins = score(within[0], metric, "last") < score(within[1], metric, "last")
    behind, whole = (1, theirs) if wins else (0, ours)
    if whole.time.max() < end and ending(within[behind]) == "falling":
        return None
    return wins


def wins_in_time(cells: pd.DataFrame, budget: str) -> dict[int, tuple[float, float]]:
    """By seed: the least and the most that the share of comparisons which HyFDCA wins can be, in the time that its
    rounds take (`hyfdca`) or that as many rounds of the rival take (`rival`). Rivals go on where they have time left."""
    found: dict[int, list[bool | None]] = {}
    for (_, seed), own in cells[[*COMPARED, "time"]].groupby(["clients", "seed"]):
        runs = dict(list(own.groupby("algorithm")))
        for rival in METHODS[1:]:
            if "hyfdca" in runs and rival in runs:
                end = runs["hyfdca" if budget == "hyfdca" else rival].time.max()
                theirs = runs.get(rival + ONWARD, runs[rival])
                for metric in METRICS:
                    found.setdefault(int(seed), []).append(ahead(runs["hyfdca"], theirs, end, metric))
    return {
        seed: (float(np.mean([w is True for w in won])), float(np.mean([w is not False for w in won])))
        for seed, won in found.items()
    }


def share_won(cells: pd.DataFrame, iterate: str) -> dict[int, float]:
    """By seed: the share of the comparisons, over settings, metrics and rivals, in which HyFDCA is strictly ahead."""
    won: dict[int, list[bool]] = {}
    for (_, seed), own in cells.groupby(["clients", "seed"]):
        runs = dict(list(own.groupby("algorithm")))
        for rival in METHODS[1:]:
            if "hyfdca" in runs and rival in runs:
                for metric in METRICS:
                    ours, theirs = score(runs["hyfdca"], metric, "last"), score(runs[rival], metric, iterate)
                    won.setdefault(int(seed), []).append(bool(ours < theirs))
    return {seed: float(np.mean(found)) for seed, found in won.items()}


def wins_of_all(results: Results) -> pd.DataFrame:
    """The comparisons that HyFDCA wins by outer iteration, over everything the count hangs on: rounds, rows of covtype,
    what was tuned for, and whether rivals are taken at their last or their best round."""
    found = {}
    for rows, covtype in (("all", DATASETS[-1]), (about(FEWER_ROWS)["rows"], FEWER_ROWS)):
        datasets = (*DATASETS[:-1], covtype)
        lengths = list(after(results, covtype))
        for i, rounds in enumerate(lengths):
            aims = equal_rounds(results, covtype).p_tuned_for.unique() if i < len(lengths) - 1 else ("gra",)
            for aim in sorted(aims):
                for iterate in ("last", "best"):
                    table = by_iteration(results, aim, iterate, i, datasets)
                    found[rows, rounds, aim, iterate] = f"{int(table.wins.sum())} of {len(table)}"
    names = ["rows of covtype", "rounds", "tuned for", "rivals at their"]
    return pd.Series(found).rename_axis(names).unstack(["tuned for", "rivals at their"]).fillna("")


def sealed_components(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Seconds a round of really encrypted runs by cipher and component, all clients and the server together; the first
    round, in which squared lengths are exchanged and code may be compiled, is left out."""
    found = {}
    for cipher, own in rows.groupby("cipher"):
        own = own.sort_values("round")
        first, last = own[own["round"] == 1].iloc[0], own.iloc[-1]
        spent = {work: last[f"{work}_seconds"] - first[f"{work}_seconds"] for work in WORKS}
        rounds = last["round"] - 1
        seconds = last.seconds - first.seconds
        parts = {"computation": seconds - sum(spent.values())} | spent
        found[cipher] = pd.Series(parts | {"seconds": seconds}) / rounds
    return found


def agreement(found: dict[str, pd.Series], cipher: str) -> float:
    """By how much a round takes longer than in the clear, by the solver's clock, over what the cipher's clock says."""
    return float((found[cipher].seconds - found["none"].computation) / found[cipher][list(WORKS)].sum())


def charged_in_all(rows: pd.DataFrame, cost: dict[str, float]) -> pd.Series:
    """Seconds of encryption that the counted scalars come to, of all clients and the server together."""
    opened = cost["decrypt"] + cost.get("refresh", 0.0)  # what a client opens was re-randomised for it
    return rows.encryptions * cost["encrypt"] + rows.decryptions * opened + rows.additions * cost["add"]


def charged_over_spent(rows: pd.DataFrame, cipher: str, times: dict) -> float:
    """What a really encrypted run is charged, scalar by scalar, over what it took by the cipher's clock; the first round
    is left out. Under CKKS a message is filled up to whole packs; clients hold about as many samples each."""
    own = rows[rows.cipher == cipher].sort_values("round")
    counted = ["turns", "encryptions", "decryptions", "additions", "encryption_steps"]
    spent = [f"{work}_seconds" for work in WORKS]
    first, last = own[own["round"] == 1].iloc[0], own.iloc[-1]
    passed = (last[counted + spent] - first[counted + spent]).astype(float)
    charged = charged_in_all(passed.to_frame().T, times[f"{cipher}, measured"]).iloc[0]
    if cipher == "ckks":
        present = passed.turns / (last["round"] - first["round"])
        size = passed.encryptions / (present * passed.encryption_steps)
        charged *= SLOTS * np.ceil(size / SLOTS) / size
    return float(charged / passed[spent].sum())
