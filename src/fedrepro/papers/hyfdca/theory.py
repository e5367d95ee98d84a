"""The bounds of Theorems 4.5, 4.8 and 4.11 of Overman, Blum & Klabjan 2023, as printed and as repaired.

All are on the expected dual gap of Algorithm 1 with Algorithm 3, for L-Lipschitz losses (L = 1 for the hinge)
and rows of length at most one.
"""

from dataclasses import dataclass

import numpy as np

from fedrepro.datasets.partition import read_grid
from fedrepro.experiments.results import Results
from fedrepro.papers.hyfdca.problems import THEOREMS


def fixed_rate(t, gap0: float, G: float, rate: float, repaired: bool) -> np.ndarray:
    """2G / (1 + rate/2 (t − t0)) for t >= t0, eqs. (3) and (4); `rate` is H/N, or PH/N.

    The recursion behind it shrinks the gap by 1 − rate a round until it is below G; that takes
    log(gap0/G)/rate rounds, where the printed t0 forgets the division.
    """
    start = max(0.0, np.ceil(np.log(gap0 / G) / (rate if repaired else 1.0)))
    return np.where(t >= start, 2 * G / (1 + rate / 2 * np.maximum(t - start, 0)), np.nan)


def cyclic(t, gap: np.ndarray, lam: float, rate: float, C: int, repaired: bool) -> np.ndarray:
    """(J1 + J2 (ln(t − C + 1) + 1)) / t^rate for t >= C, Theorem 4.11; `rate` is H/N, `gap` the mean gap by round.

    Only Q/C of the Q holders of a sample send a change in a round, and each change is divided by Q: a round
    moves 1/C as far as the printed exponent supposes. The repair puts H/(NC) for H/N in the exponents.
    """
    power = rate / C if repaired else rate
    J1 = C**power * gap[C - 1]
    J2 = 2 * rate * (C + 1) / lam * ((C - 1) ** 4 + 2 * (C - 1) ** 2 + 1)
    inside = np.maximum(t - C + 1, 1)
    return np.where(t >= C, (J1 + J2 * (np.log(inside) + 1)) / np.maximum(t, 1.0) ** power, np.nan)


FAR = 1e6  # rounds
WINDOW, SURE = (
    20,
    4.0,
)  # rounds that are judged together, and standard errors below which an excess may be chance
ACCURACY = 1e-9  # of D*, as a share of the first gap


@dataclass
class Case:
    """One theorem on one problem: the mean gap over seeds by round, and the bounds."""

    theorem: str
    lam: float
    inner: int
    t: np.ndarray
    mean: np.ndarray
    printed: np.ndarray
    repaired: np.ndarray
    rate: float  # H/N, or PH/N
    G: float  # 2L²/λ
    runs: np.ndarray  # the gap by seed and round

    def excess(self, which: str) -> float:
        """The largest ratio of gap to bound; above 1 the bound fails."""
        bound = getattr(self, which)
        known = np.isfinite(bound)
        return float((self.mean[known] / bound[known]).max()) if known.any() else float("nan")

    def one_step(self) -> float:
        """A round's gap over (1 − s r) gap_{t−1} + s² r G, Theorem 4.4, r = H/N, with the s in [0, 1] that makes it
        smallest: mean gap_{t−1} / 2G. The theorem is on expectations: in every window of rounds the mean over rounds and
        seeds less SURE standard errors, the largest of them. Rounds at the accuracy of D* are left out."""
        before, after = self.runs[:, :-1], self.runs[:, 1:]
        s = np.clip(self.mean[:-1] / (2 * self.G), 0.0, 1.0)
        excess = after - (1 - s * self.rate) * before - s**2 * self.rate * self.G
        side = (1 - s * self.rate) * self.mean[:-1] + s**2 * self.rate * self.G
        told = np.flatnonzero(self.mean[:-1] > ACCURACY * self.mean[0])
        windows = [told[i : i + WINDOW] for i in range(0, len(told), WINDOW)]
        parts = [(excess / side)[:, own].ravel() for own in windows]
        sure = [x.mean() - SURE * x.std(ddof=1) / np.sqrt(len(x)) for x in parts if len(x) >= WINDOW]
        return 1.0 + float(max(sure, default=np.nan))

    def beyond(self) -> float:
        """Gap over the printed bound of Theorem 4.11 at round FAR, if the gap goes on by the power of t that it fell by
        in the last half of the rounds run. NaN where it has arrived."""
        half = self.t >= self.t[-1] / 2
        if not (self.mean[half] > ACCURACY * self.mean[0]).all():
            return float("nan")
        slope, level = np.polyfit(np.log(self.t[half]), np.log(self.mean[half]), 1)
        far = np.append(self.t, FAR)
        bound = cyclic(far, self.mean, self.lam, self.rate, THEOREMS[self.theorem][1], False)[-1]
        return float(np.exp(level + slope * np.log(FAR)) / bound)


def case(theorem: str, lam: float, inner: int, N: int, t: np.ndarray, runs: np.ndarray) -> Case:
    mean = runs.mean(axis=0)
    clients, cycle, _, _ = THEOREMS[theorem]
    rows, columns, fraction = read_grid(clients)
    inner = min(inner, N // rows)  # a client visits no more samples than it has
    rate, G = inner / N, 2.0 / lam
    if cycle:
        both = [cyclic(t, mean, lam, rate, cycle, repaired) for repaired in (False, True)]
    else:
        rate *= round(fraction * rows * columns) if theorem == "4.8" else 1
        both = [fixed_rate(t, mean[0], G, rate, repaired) for repaired in (False, True)]
    return Case(theorem, lam, inner, t, mean, *both, rate, G, runs)


def cases(results: Results) -> list[Case]:
    """Every theorem, lambda and H that was run."""
    rows = results.traces("hyfdca_theorems")
    table = results.reference("hyfdca_theorems")
    found = []
    for (theorem, lam, inner), cells in rows.groupby(["theorem", "lambda", "p_inner"]):
        N = int(table[cells.setting.iloc[0], 0].facts["N"])
        gaps = cells.pivot(index="seed", columns="round", values="dual_gap")
        found.append(case(theorem, float(lam), int(inner), N, gaps.columns.to_numpy(float), gaps.to_numpy()))
    return found
