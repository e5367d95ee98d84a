"""The numbers that claims and figures of Niu & Wei both use."""

import json

import numpy as np
import pandas as pd

from fedrepro.algorithms.fedhybrid import newton_clients
from fedrepro.papers.fedhybrid import theory

SETUPS = ("setup1", "setup2", "setup3", "setup4")
CHOICES = ("choices1", "choices2", "choices3", "choices4")
SETTLING = ("settling1", "settling2", "settling3", "settling4")
SHUFFLED = ("shuffled1", "shuffled2", "shuffled3", "shuffled4")
STIFFNESS = ("stiffness1", "stiffness2", "stiffness3")
UNSTATED = ("unstated1", "unstated2", "unstated3", "unstated4")
FLOOR = 1e-14  # of the starting gap: below it a run has arrived
LEVELS = (1e-3, 1e-6, 1e-9)  # of the starting gap, for counting what it takes
UNITS = ("iterations", "exchanges", "floats")
HORIZONS = (1, 3, 10)  # how long runs are watched, in the rounds they were tuned for
CELL = ["setting", "algorithm", "params", "seed"]


def horizon(results, experiment: str) -> int:
    """The rounds that methods were tuned for."""
    name = results.traces(f"fedhybrid_{experiment}").algorithm.iloc[0]
    block = json.loads(results.footer(f"fedhybrid_{experiment}", name)["block"])
    return int(block["experiment"]["settings"][0]["horizon"])


def speeds(results, experiment: str) -> pd.DataFrame:
    """Every cell's `speed`, decades a round that its gap fell: `watched` for one, three and ten horizons, as far as it
    was run, or until it arrived. Minus infinity where it diverged before. `free`: whether stepsizes may exceed one."""
    rows = results.traces(f"fedhybrid_{experiment}")
    planned, last = horizon(results, experiment), rows["round"].max()
    out = []
    for _, cells in rows.groupby(CELL, sort=False):
        relative = (cells.gap / cells.gap.iloc[0]).to_numpy()
        there = np.flatnonzero(relative <= FLOOR)
        for times in HORIZONS:
            if times * planned > last:
                continue
            end = int(np.searchsorted(cells["round"], times * planned, side="right")) - 1
            diverged = cells.status.iloc[0] == "diverged" and end == len(cells) - 1
            if len(there):
                end = min(end, there[0])
            speed = -np.inf if diverged else -np.log10(relative[end]) / cells["round"].iloc[end]
            words = f"{times} horizon{'s' * (times > 1)}"
            out.append(cells.iloc[end].to_dict() | {"speed": speed, "times": times, "watched": words})
    found = pd.DataFrame(out)
    ranges = [c for c in found if c.endswith("_range") and c != "p_mu_range"]
    found["free"] = (
        found[ranges].map(lambda text: isinstance(text, str) and json.loads(text)[1] > 1).any(axis=1)
    )
    return found


def over(speed: float, other: float) -> float:
    """The ratio of two speeds; a run that moves is infinitely faster than one that does not."""
    return speed / other if other > 0 else np.inf if speed > max(other, 0.0) else np.nan


def against_fedavg(results, experiment: str) -> pd.DataFrame:
    """The `ratio` of FedHybrid's speed to FedAvg's on the same data and with the same range of stepsizes.

    The wider range has the same number of points and so is searched less closely; since it contains the printed one,
    a method with free stepsizes is given the better of its two winners.
    """
    found = speeds(results, experiment)
    if found.free.any():
        same = [
            "setting",
            "algorithm",
            "seed",
            "times",
            *(c for c in ("p_newton", "p_chosen") if c in found),
        ]
        best = found.groupby(same, dropna=False).speed.transform("max")
        found.loc[found.free, "speed"] = best[found.free]
    keys = ["setting", "seed", "free", "times"]
    rival = found[found.algorithm == "fedavg"].set_index(keys).speed
    ours = found[found.algorithm.str.startswith("fedh_")].copy()
    theirs = rival.loc[list(ours[keys].itertuples(index=False, name=None))].to_numpy()
    ours["ratio"] = [over(*pair) for pair in zip(ours.speed, theirs, strict=True)]
    ours["chosen"] = ours.p_chosen.fillna("random") if "p_chosen" in ours else "random"
    return ours


def price(results, experiment: str) -> pd.DataFrame:
    """What FedH-N and DiSCO take to bring the gap to each of LEVELS of its start; where they did not get there
    (`reached`), what they had spent when they ended."""
    rows = results.traces(f"fedhybrid_{experiment}")
    out = []
    for _, cells in rows[rows.algorithm.isin(["fedh_n", "disco"])].groupby(CELL, sort=False):
        first = cells.iloc[0].to_dict()
        for level in LEVELS:
            there = cells[cells.gap <= level * cells.gap.iloc[0]]
            hit = (there if len(there) else cells.tail(1)).iloc[0]
            spent = (hit["round"], hit.exchanges, hit.floats_up + hit.floats_down)
            out.append(
                first | {"level": level, "reached": len(there) > 0} | dict(zip(UNITS, spent, strict=True))
            )
    found = pd.DataFrame(out)
    step = np.where(found.p_damped == "True", "damped", "unit step")
    return found.assign(method=np.where(found.algorithm == "disco", np.char.add("disco ", step), "fedh_n"))


def beside_stiffness(results, experiment: str) -> pd.DataFrame:
    """Every cell's speed with `stiffest`: the largest curvature among its gradient clients, of the largest of all."""
    cells = speeds(results, experiment)
    table = results.reference(f"fedhybrid_{experiment}")
    worst = []
    for cell in cells.itertuples():
        constants = table[cell.setting, cell.seed].constants
        rest = np.delete(constants["high"], newton_clients(constants, cell.p_newton, cell.p_chosen))
        worst.append(rest.max() / constants["high"].max())
    return cells.assign(stiffest=worst)


def contraction(results, experiment: str) -> pd.DataFrame:
    """The slowest round of every cell: 1 − Δ^{k+1}/Δ^k over ρ, for ρ as printed and as proved. Below one it fails."""
    rows = results.traces(f"fedhybrid_{experiment}")
    table = results.reference(f"fedhybrid_{experiment}")
    out = []
    for (setting, kappa, _, seed), cells in rows.groupby(["setting", "kappa", "params", "seed"]):
        ref, first = table[setting, seed], cells.iloc[0]
        mu, count = float(first.p_mu), int(first.p_newton)
        rho = theory.rates(
            ref.constants["low"], ref.constants["high"], ref.constants["order"][:count].astype(int), mu
        )
        error = (13 * cells.dual_gap + cells.tracking_error).to_numpy()
        error = error[error > 1e-20 * error[0]]
        slowest = float(np.min(1.0 - error[1:] / error[:-1]))
        out.append({"kappa": kappa, "problem": experiment, "origin": first.data_origin,
                    "mu": mu, "newton": count, "seed": seed, "slowest": slowest}
                   | {name: slowest / value for name, value in rho.items()}
                   | {f"rho {name}": value for name, value in rho.items()}
                   | {"speed": -np.log10(error[-1] / error[0]) / (len(error) - 1)})  # fmt: skip
    return pd.DataFrame(out)
