"""The bounds of Theorems 4.5, 4.8 and 4.11 of Overman, Blum & Klabjan 2023, as printed and as repaired.

All are on the expected dual gap of Algorithm 1 with Algorithm 3, for L-Lipschitz losses (L = 1 for the hinge)
and rows of length at most one.
"""

from dataclasses import dataclass

import numpy as np

from fedrepro.problems.hyfdca import THEOREMS, read_clients
from fedrepro.results import Results


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

    def excess(self, which: str) -> float:
        """The largest ratio of gap to bound; above 1 the bound fails."""
        bound = getattr(self, which)
        known = np.isfinite(bound)
        return float((self.mean[known] / bound[known]).max()) if known.any() else float("nan")

    def first_failure(self) -> float:
        """The first round in which the gap is above the printed bound."""
        above = self.mean > self.printed
        return float(self.t[above][0]) if above.any() else float("nan")


def case(theorem: str, lam: float, inner: int, N: int, t: np.ndarray, mean: np.ndarray) -> Case:
    clients, cycle, _, _ = THEOREMS[theorem]
    rows, columns, fraction = read_clients(clients)
    inner = min(inner, N // rows)  # a client visits no more samples than it has
    rate, G = inner / N, 2.0 / lam
    if cycle:
        both = [cyclic(t, mean, lam, rate, cycle, repaired) for repaired in (False, True)]
    else:
        rate *= round(fraction * rows * columns) if theorem == "4.8" else 1
        both = [fixed_rate(t, mean[0], G, rate, repaired) for repaired in (False, True)]
    return Case(theorem, lam, inner, t, mean, *both)


def cases(results: Results) -> list[Case]:
    """Every theorem, lambda and H that was run."""
    rows = results.traces("hyfdca_theorems")
    table = results.reference("hyfdca_theorems")
    found = []
    for (theorem, lam, inner), cells in rows.groupby(["theorem", "lambda", "p_inner"]):
        N = int(table[cells.setting.iloc[0], 0]["N"])
        mean = cells.groupby("round").dual_gap.mean()
        found.append(case(theorem, float(lam), int(inner), N, mean.index.to_numpy(float), mean.to_numpy()))
    return found
