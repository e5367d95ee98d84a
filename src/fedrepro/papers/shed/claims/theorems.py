"""How Theorems 9 and 10 of Dal Fabbro et al. are measured: on a small problem, iteration by iteration."""

import numpy as np
import pandas as pd

from fedrepro.experiments.registry import claim, evidence
from fedrepro.papers.shed.readings import penalty
from fedrepro.reporting.evidence import origin_of, row

RENEWALS = {
    "fib_shed": "Fibonacci", "fib_shed_plus": "Fibonacci, random increments", "shed_periodic": "periodic",
}  # fmt: skip
ROUNDING = 1e-9  # errors below it are not followed further: their ratios are rounding


def watched(results):
    """The choices, the seed, and the iterations of a cell, each with the error before and after it."""
    rows = results.traces("shed_theorems")
    for (mu, skew, name, seed), cells in rows.groupby(["mu", "skew", "algorithm", "seed"]):
        cells = cells.sort_values("round").assign(before=lambda c: c.distance.shift())
        seen = cells[(cells["round"] > 0) & (cells.distance > ROUNDING)]
        if len(seen):
            words = {"μ": penalty(mu), "agents": "unlike" if skew else "alike", "renewals": RENEWALS[name]}
            yield words, {"seed": seed, "origin": origin_of(cells)}, seen


def conditions(seen):
    """Where both (33) and (34) hold."""
    return seen[["first_condition", "second_condition"]].max(axis=1) <= 1


@claim("E26")
def E26(results):
    """The next error over its bound (31), and how c_1 of (32) changes with one more eigenvector, at the worst iteration;
    of all problems' together, and of those iterations at which (33) and (34) hold."""
    changes = []
    for choices, about, seen in watched(results):
        yield row(seen.one_step.max(), part="one step", **about, **choices)
        changes += [about | {"iterations": "all", "value": seen.more.max()}]
        near = seen[conditions(seen)]
        changes += [about | {"iterations": "once (33) and (34) hold", "value": near.more.max()}] * bool(
            len(near)
        )
    for about, found in pd.DataFrame(changes).groupby(["seed", "origin", "iterations"]):
        seed, origin, iterations = about
        yield row(found.value.max(), part="more", seed=seed, origin=origin, iterations=iterations)


@claim("E27")
def E27(results):
    """Steps while (33) holds, the error's factor once (33) and (34) do, and how that factor falls from one complete
    Hessian to the next."""
    for choices, about, seen in watched(results):
        first, both = seen.first_condition <= 1, conditions(seen)
        factor = seen.distance / seen.before
        if first.any():
            yield row(seen.step[first].min(), part="step", **about, **choices)
        if both.any():
            yield row(factor[both.cummax()].max(), part="linear", **about, **choices)
        complete = seen[seen.complete == 1]
        by_renewal = factor[complete.index].groupby(complete.hessians).first()
        if len(by_renewal) > 1:
            fall = float(by_renewal.iloc[-1] / by_renewal.iloc[0])
            yield row(fall if np.isfinite(fall) else np.nan, part="superlinear", **about, **choices)


@evidence()
def largest_eigenvalue(results):
    rows = results.traces("shed_theorems")
    found = rows.groupby(["setting", "algorithm", "seed"]).largest.max()
    return f"the largest eigenvalue over K is {found.min():.3f} to {found.max():.3f} at the worst iteration of a run"
