"""What the figures of Dal Fabbro et al. have in common: curves over seeds, axes, words."""

import numpy as np

from fedrepro.reporting import panels

COST = r"relative cost $f(\theta^t) - f(\theta^\star)$"
ROUNDS = "communication rounds"
VECTORS = r"vectors in $\mathbb{R}^n$ sent per agent"


def curve(ax, cells, x="exchanges", y="gap", **more):
    """A curve over seeds. One that has converged stays where it ended while others go on; seeds may have sent
    different numbers of vectors by the same round, so x is their median."""
    if len(cells):
        wide = cells.pivot(index="round", columns="seed", values=y).ffill()
        long = wide.stack().rename(y).reset_index()
        long[x] = long["round"].map(cells.groupby("round")[x].median())
        for column in ("algorithm", "status"):
            long[column] = long["seed"].map(cells.groupby("seed")[column].first())
        panels.curve(ax, long.drop(columns="round") if x != "round" else long, y, x=x, **more)


def ridge(mu: float) -> str:
    return rf"$\mu = 10^{{{np.log10(mu):.0f}}}$"
