"""Our figures on what Dal Fabbro et al. leave open, and on their theorems."""

import numpy as np
import pandas as pd
from matplotlib.ticker import LogFormatter

from fedrepro.experiments.registry import figure
from fedrepro.papers.shed.figures.curves import COST, ROUNDS, curve, ridge
from fedrepro.papers.shed.readings import (
    LARGE,
    MIDDLE,
    PARTITIONS,
    SMALL,
    gradient_norm,
    reach,
    readings,
    select,
    spent,
)
from fedrepro.reporting import panels, style
from fedrepro.reporting.names import called


@figure()
def choices(results):
    """Rounds to convergence under every reading of the unstated choices."""
    figure, (axes,) = panels.grid(1, 2, sharey=True)
    found = list(readings(results))
    for ax, partition in zip(axes, PARTITIONS, strict=True):
        for name, marker in (("fib_shed", "o"), ("fednl", "s"), ("giant", "D")):
            ax.plot([], [], marker, color=style.colour(name), ms=6, label=called(name))
            for height, reading in enumerate(reversed(found)):
                cells = reading.cells(name, partition, LARGE)
                for value, end in zip(reach(cells), spent(cells), strict=True):
                    beyond = np.isinf(value)
                    ax.plot(end if beyond else value, height, ">" if beyond else marker, alpha=0.7,
                            color=style.colour(name), ms=6, mfc="white" if beyond else None)  # fmt: skip
        ax.set(
            xlabel="communication rounds to a cost of $10^{-10}$", title=f"FMNIST, {PARTITIONS[partition]}"
        )
        ax.set_xlim(left=0)
    axes[0].set_yticks(range(len(found)), [r.name for r in reversed(found)], fontsize=8)
    panels.legend_above(figure, 3, title="open triangles: not within the budget")
    figure.set_size_inches(figure.get_size_inches() * np.array([1.05, 1.15]))
    return figure


@figure("gradient_norm")
def gradient_norm_swept(results):
    """GN-SHED over b, with its inequality as printed and reversed: where it ends, and how often it renews; beside
    Fib-SHED after as many iterations. A ring marks what figures 8 and 9 draw."""
    figure, axes = panels.grid(2, 2, sharex=True)
    for row, partition in zip(axes, PARTITIONS, strict=True):
        for reading, dash in zip(readings(results), ("-", style.DASHES[1]), strict=True):
            swept = gradient_norm(results, partition, reading.centre)
            drawn = reading.cells("gn_shed", partition, LARGE).iloc[0]
            for reverse, colour in (("False", style.BLACK), ("True", style.TEAL)):
                cells = swept[swept.p_reverse == reverse]
                found = sorted((float(b), *ends(c)) for b, c in cells.groupby("p_b"))
                label = f"{'reversed' if reverse == 'True' else 'as printed'}, {reading.name}"
                for ax, column in zip(row, (1, 2), strict=True):
                    panels.points(
                        ax, [f[0] for f in found], [f[column] for f in found],
                        colour=colour, label=label, dash=dash,
                    )  # fmt: skip
                    ringed = [
                        f
                        for f in found
                        if f[0] == float(drawn.p_b) and reverse == drawn.get("p_reverse", "False")
                    ]
                    ax.plot(
                        [f[0] for f in ringed], [np.median(f[column]) for f in ringed],
                        "o", ms=12, mfc="none", color=style.RED,
                    )  # fmt: skip
            fib = reading.cells("fib_shed", partition, LARGE)
            for ax, values in zip(row, ends(fib[fib["round"] <= swept["round"].max()]), strict=True):
                panels.level(
                    ax,
                    pd.Series(values),
                    colour=style.colour("fib_shed"),
                    label=f"Fib-SHED, {reading.name}",
                    dash=dash,
                )
        title = f"FMNIST, {PARTITIONS[partition]}"
        row[0].set(
            yscale="log", ylabel=f"relative cost within {int(swept.exchanges.max())} rounds", title=title
        )
        row[1].set(yscale="log", ylabel="Hessians per agent", title=title)
        for axis in (row[1].yaxis.set_major_formatter, row[1].yaxis.set_minor_formatter):
            axis(LogFormatter(labelOnlyBase=False, minor_thresholds=(2, 0.5)))
    for ax in axes[-1]:
        ax.set_xlabel("$b$")
    panels.legend_above(figure, 3, handlelength=4)
    return figure


def ends(cells):
    """By seed: the lowest cost, and the Hessians of an agent."""
    return cells.groupby("seed").gap.min().to_numpy(), spent(cells, "hessians")


@figure()
def endings(results):
    """Iterations to convergence with almost no penalty, by reading and seed, beside the renewals."""
    figure, ((ax,),) = panels.grid()
    found = [r for r in readings(results) if len(r.cells("fib_shed", "skew", SMALL))]
    longest = 0.0
    for height, reading in enumerate(reversed(found)):
        cells = reading.cells("fib_shed", "skew", SMALL)
        ends, budget = reach(cells, "round"), spent(cells, "round")
        inside = np.isfinite(ends)
        ax.plot(
            ends[inside], np.full(inside.sum(), height), "o", color=style.colour("fib_shed"), ms=7, alpha=0.7
        )
        ax.plot(
            budget[~inside],
            np.full((~inside).sum(), height),
            ">",
            color=style.colour("fib_shed"),
            ms=7,
            mfc="white",
        )
        longest = max(longest, cells["round"].max())
        one = cells[cells.seed == cells.seed[cells["round"].idxmax()]]  # the longest run has them all
        renewals = one[one.hessians.diff() > 0]["round"]
        ax.plot(renewals, np.full(len(renewals), height), "|", color=style.GREY, ms=14)
    ax.set_yticks(range(len(found)), [r.name for r in reversed(found)], fontsize=8)
    ax.set(xlabel="iterations to a cost of $10^{-10}$", ylim=(-0.6, len(found) - 0.4), xlim=(0, 1.05 * longest),
           title="Fib-SHED, FMNIST non i.i.d.,\n" r"$\mu = 10^{-8}$; grey: renewals")  # fmt: skip
    ax.grid(axis="y", visible=False)
    return figure


@figure()
def rivals(results):
    """GIANT with either average; FedNL over its learning step."""
    figure, (axes,) = panels.grid(1, 3, sharey=True)
    for ax, partition in zip(axes, PARTITIONS, strict=False):
        for mu, dash in ((LARGE, "-"), (MIDDLE, style.DASHES[1])):
            both = (
                ("fmnist", "giant", "harmonic", style.GREEN),
                ("determinantal", "determinantal", "determinantal", style.SKY),
            )
            for family, name, words, colour in both:
                cells = select(results.traces(f"shed_{family}_{partition}"), name, mu)
                curve(ax, cells, label=f"{words}, {ridge(mu)}", colour=colour, dash=dash)
        ax.set(
            yscale="log", xlabel=ROUNDS, title=f"GIANT's average, {PARTITIONS[partition]}", ylim=(1e-10, 3)
        )
        ax.legend(fontsize=8)
    steps = results.traces("shed_learning")
    curve(axes[2], select(results.traces("shed_fmnist_skew"), "fednl", LARGE), label="1", colour=style.BLUE)
    for dash, (step, cells) in zip(style.DASHES[1:], steps.groupby("p_learning"), strict=False):
        curve(axes[2], cells, label=step, colour=style.GREY, dash=dash)
    axes[2].set(yscale="log", xlabel=ROUNDS, title="FedNL's learning step, non i.i.d.")
    axes[2].legend(fontsize=8)
    axes[0].set_ylabel(COST)
    return figure


@figure()
def theorems(results):
    """The error beside its one-step bound, and its factor by iteration, on the small problem."""
    figure, (axes,) = panels.grid(1, 2)
    rows = results.traces("shed_theorems")
    cells = rows[(rows.algorithm == "shed_periodic") & ~rows["skew"] & (rows.seed == 0)]
    for (mu, one), colour in zip(cells.groupby("mu"), (style.RED, style.BLUE, style.BLACK), strict=True):
        one = one[one.distance > 1e-12]
        t, later = one["round"], one[one["round"] > 0]
        factor = (one.distance / one.distance.shift())[later.index]
        axes[0].plot(t, one.distance, color=colour, label=f"error, {ridge(float(mu))}")
        axes[0].plot(later["round"], later.distance / later.one_step, color=colour, ls=style.DASHES[1])
        axes[1].plot(later["round"], factor, color=colour, label=ridge(float(mu)))
        full = later[later.complete == 1]
        axes[1].plot(full["round"], factor[full.index], "o", color=colour, ms=6)
        held = later[later[["first_condition", "second_condition"]].max(axis=1) <= 1]
        if len(held):
            axes[1].axvline(held["round"].iloc[0], color=colour, ls=style.DASHES[2])
    axes[0].set(
        yscale="log",
        xlabel="iteration $t$",
        ylabel=r"$\|\theta^{t} - \theta^\star\|$",
        title="(a) dashed: the bound (31)",
    )
    axes[1].set(
        yscale="log",
        xlabel="iteration $t$",
        ylabel="factor of the error",
        title="(b) dots: complete Hessian; dotted: (33), (34) hold",
    )
    axes[0].legend()
    return figure
