"""Pictures of what `make bench` and `make scaling` measured, and their place in the report where there are any."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fedrepro.reporting import panels, style
from fedrepro.reporting.names import called
from fedrepro.reporting.pictures import Definitions, drawn

FITTED = 3  # of the largest sizes
SIZES = {"clients": "m", "samples": "n", "dimension": "d"}
AXES = {"clients": "clients", "samples": "samples a client", "dimension": "dimension"}
QUANTITIES = {"seconds": "processor seconds a round", "own_mb": "memory beyond the libraries' [MB]"}
DASHED = {
    "fedgd_streamed": style.DASHES[1],
    "hyfdca": style.DASHES[3],
}  # they share a colour with another line
TITLES = {
    "bench": (
        "Speed, as ratios of one run",
        "Left: how many times as long the plain way takes, a loop as one would write it in NumPy. Right: the share of our time"
        " in which this machine, measured in the same run, does what cannot be avoided.",
        "make bench",
    ),
    "scaling": (
        "Cost against size",
        f"Rounds in which every client takes part. The numbers are slopes of a line through the {FITTED} largest sizes, in"
        " logarithms. Every point is a process of its own.",
        "make scaling",
    ),
}


def slope(x, y) -> float:
    """Of the line through the largest sizes, in logarithms: the power with which y grows."""
    order = np.argsort(x)[-FITTED:]
    return float(np.polyfit(np.log(np.asarray(x, float)[order]), np.log(np.asarray(y, float)[order]), 1)[0])


def scaling(table: Path) -> Figure:
    """Time and memory, over clients, samples and dimension; a line for every method."""
    rows = pd.read_csv(table)
    with style.applied():
        figure, axes = panels.grid(2, 3, sharey="row", layout="constrained")
        for (axis, size), column in zip(SIZES.items(), axes.T, strict=True):
            for (quantity, words), ax in zip(QUANTITIES.items(), column, strict=True):
                lines(ax, rows[rows["axis"] == axis], size, quantity)
                ax.set_xlabel(AXES[axis])
                if axis == "clients":
                    ax.set_ylabel(words)
        style.plain_powers(figure)
    return figure


def lines(ax, rows: pd.DataFrame, size: str, quantity: str) -> None:
    """A line for every method, in the legend with its slope."""
    for name, cells in rows.groupby("method", sort=False):
        own = cells.sort_values(size)
        own = own[own[quantity] > 0]
        method = name.removesuffix("_streamed")
        words = called(method)
        if name.endswith("_streamed"):
            words += f" streamed, {cells.n.iloc[0]} × {cells.d.iloc[0]}"
        if len(own) > 1:
            words += f": {slope(own[size], own[quantity]):.2f}"
        dash = DASHED.get(name, "-")
        ax.loglog(own[size], own[quantity], "o", ms=4, color=style.colour(method), ls=dash, label=words)
    ax.legend(fontsize=7.5, loc="upper left")
    ax.margins(y=0.3)


def bench(table: Path) -> Figure:
    """Bars, a line of the table each: the ratio to the plain way, and the share of the physical bound."""
    rows = pd.read_csv(table)
    places = np.arange(len(rows))
    with style.applied():
        figure, (left, right) = plt.subplots(
            1, 2, sharey=True, layout="constrained", figsize=(3 * style.WIDTH, 0.8 + 0.34 * len(rows))
        )
        left.barh(places, rows["ratio"], color=style.BLUE)
        right.barh(places, 100 * rows["share"], color=style.ORANGE)
        for place, row in zip(places, rows.itertuples(), strict=True):
            if np.isfinite(row.ratio):
                left.text(
                    row.ratio,
                    place,
                    f" {row.ratio:,.0f}" if row.ratio >= 100 else f" {row.ratio:.2g}",
                    va="center",
                    fontsize=7.5,
                )
            if np.isfinite(row.share):
                right.text(
                    100 * row.share,
                    place,
                    f" {100 * row.share:.2g} %: {row.bound_is}",
                    va="center",
                    fontsize=7.5,
                )
        left.axvline(1.0, color=style.GREY, lw=1)
        left.set_xscale("log")
        left.set_yticks(places, rows["what"])
        left.invert_yaxis()
        left.set_xlabel("the plain way's time / ours")
        right.set_xlabel("share of the bound [%]")
        left.margins(x=0.15)
        right.margins(x=0.6)
        for ax in (left, right):
            ax.grid(axis="y", visible=False)
        style.plain_powers(figure)
    return figure


def shown(folder: Path, definitions: Definitions) -> list[dict]:
    """What a page shows of the pictures in a folder, as far as they are there."""
    return [
        {"id": name, "title": title, "caption": caption, "command": command,
         "image": drawn((folder / f"{name}.svg").read_text(), definitions, title)}
        for name, (title, caption, command) in TITLES.items()
        if (folder / f"{name}.svg").exists()
    ]  # fmt: skip
