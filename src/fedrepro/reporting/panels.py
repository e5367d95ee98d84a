"""The few kinds of panel our figures are made of."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fedrepro.reporting import style
from fedrepro.reporting.names import called


def grid(rows: int = 1, columns: int = 1, **more):
    """A figure of equal panels, sized so that labels stay legible in print."""
    size = (style.WIDTH * columns, style.HEIGHT * rows + 0.15)
    return plt.subplots(rows, columns, figsize=size, squeeze=False, **more)


PLACES = 9  # decimals of a position in its figure


def settle(figure) -> None:
    """Lay a figure out, once for all formats. The last bits of a layout may differ from process to process, and with them
    the names that an SVG gives to what it clips: they are rounded away."""
    if layout := figure.get_layout_engine():
        layout.execute(figure)
        figure.set_layout_engine("none")
    for ax in figure.axes:
        ax.set_position(np.round(ax.get_position(original=True).bounds, PLACES))


def room_below(figure) -> None:
    """A line of its own for what a figure has to say of itself, below the axes' labels."""
    margin = 0.2 / figure.get_figheight()
    figure.get_layout_engine().set(rect=(0, margin, 1, 1 - margin))


def over_seeds(cells: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Median, lowest and highest y over seeds at every x that all seeds recorded."""
    seeds = cells["seed"].nunique()
    spread = cells.groupby(x)[y].agg(["median", "min", "max", "count"])
    return spread[spread["count"] == seeds]


def curve(
    ax: Axes, cells: pd.DataFrame, y: str, *, x: str = "round", label=None, colour=None, dash="-", floor=None
):
    """One curve: the median over seeds with a band from the lowest to the highest; × where cells diverged."""
    name = cells["algorithm"].iloc[0]
    colour = colour or style.colour(name)
    spread = over_seeds(cells, x, y)
    if floor is not None:
        spread = spread[["median", "min", "max"]].clip(lower=floor)
    ax.plot(spread.index, spread["median"], color=colour, ls=dash, label=label or called(name))
    if cells["seed"].nunique() > 1:
        ax.fill_between(spread.index, spread["min"], spread["max"], color=colour, alpha=0.18, lw=0)
    diverged = cells[cells["status"] == "diverged"]
    if len(diverged):
        ends = diverged.groupby("seed").tail(1)
        shown = ends[np.isfinite(ends[y])]
        ax.plot(shown[x], shown[y], "x", color=colour, ms=7, mew=2, ls="none")


def newcomers(ax: Axes, rows: pd.DataFrame, y: str, known=(), draw=curve, **more):
    """A curve for every algorithm, and each of its settings, that the figure does not know: a reader's own."""
    for (name, params), cells in rows[~rows.algorithm.isin(known)].groupby(["algorithm", "params"]):
        draw(ax, cells, y=y, label=f"{called(name)} {params}".strip(), dash=style.DASHES[3], **more)


def legend_above(figure, columns: int, **more):
    """One legend for all panels, over them, where it hides no curve."""
    known = {
        label: handle
        for ax in figure.axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(known.values(), known, loc="outside upper center", ncols=min(len(known), columns), **more)


def level(ax: Axes, values: pd.Series, *, colour, label=None, dash=(0, (1, 1))):
    """A horizontal line at the median of `values`, with a band over seeds."""
    ax.axhline(values.median(), color=colour, ls=dash, lw=1.1, label=label)
    ax.axhspan(values.min(), values.max(), color=colour, alpha=0.10, lw=0)


def points(ax: Axes, x, groups, *, colour, label, marker="o", dash="-"):
    """Medians over seeds at a few x values, with bars from lowest to highest."""
    mid = np.array([np.median(g) for g in groups])
    low = mid - np.array([np.min(g) for g in groups])
    high = np.array([np.max(g) for g in groups]) - mid
    ax.errorbar(
        x, mid, yerr=[low, high], color=colour, label=label, marker=marker, ls=dash, ms=4.5, capsize=2
    )
