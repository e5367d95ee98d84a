"""The arena's pictures."""

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from fedrepro.experiments.registry import figure
from fedrepro.papers.arena import readings
from fedrepro.papers.arena.network import sliders
from fedrepro.papers.arena.readings import CLASSES, COSTS, EVERYTHING, FINE, ROUGH
from fedrepro.reporting import panels, style
from fedrepro.reporting.names import called
from fedrepro.reporting.pieces import piece

LEVELS = np.geomspace(1.0, 100.0, 81)  # ratios to the best
NAMED = 7  # methods that a panel names; the others are grey
PALE = "#D9D9D9"
LATENCIES, BANDWIDTHS = np.geomspace(1e-4, 1e1, 26), np.geomspace(1e3, 1e9, 31)


@figure()
def profiles(results):
    table = readings.costs(results.traces(*EVERYTHING))
    drawn, axes = panels.grid(len(CLASSES), len(COSTS), sharey=True, sharex=True)
    for row, name in zip(axes, CLASSES, strict=True):
        part = readings.of_class(table, name)
        for ax, (cost, words) in zip(row, COSTS.items(), strict=True):
            steps(ax, LEVELS, readings.ratios(readings.matrix(part, cost, ROUGH)))
            ax.set(xscale="log", xlim=(0.95, LEVELS[-1]), title=f"{name}: {words}")
            ax.xaxis.set_minor_locator(NullLocator())
    for ax in axes[-1]:
        ax.set_xlabel("cost over the best method's")
    for ax in axes[:, 0]:
        ax.set_ylabel("share of problems solved")
    return drawn


def steps(ax, levels, costs: pd.DataFrame) -> None:
    """A step curve for every method that solves anything; the best by name, those of one colour told by the dash."""
    ranked = readings.areas(costs, levels)
    named = [name for name in ranked.index[:NAMED] if ranked[name] > 0]
    pale = [name for name in ranked.index[NAMED:] if ranked[name] > 0]
    for name in pale:
        ax.plot(
            levels,
            readings.profile(costs[name].to_numpy(), levels),
            color=PALE,
            lw=0.8,
            drawstyle="steps-post",
        )
    met: list[str] = []
    for name in named:
        colour = style.colour(name)
        dash = style.DASHES[met.count(colour) % len(style.DASHES)]
        met.append(colour)
        share = readings.profile(costs[name].to_numpy(), levels)
        ax.plot(levels, share, color=colour, ls=dash, drawstyle="steps-post", label=called(name))
    ax.set_ylim(-0.02, 1.02)
    if named:
        ax.legend(fontsize=6.5, loc="lower right", frameon=True, framealpha=0.8, edgecolor="none")


@figure()
def budget(results):
    table = readings.costs(results.traces(*EVERYTHING))
    shown = [("trips", ROUGH, "first"), ("equivalents", ROUGH, "first"), ("trips", FINE, "last")]
    drawn, axes = panels.grid(len(CLASSES), len(shown), sharey=True)
    for row, name in zip(axes, CLASSES, strict=True):
        part = readings.of_class(table, name)
        for ax, (cost, target, words) in zip(row, shown, strict=True):
            found = readings.matrix(part, cost, target)
            high = max(
                10.0, float(np.max(found.to_numpy(), initial=1.0, where=np.isfinite(found.to_numpy())))
            )
            steps(ax, np.geomspace(1.0, high, 120), found)
            ax.set(xscale="log", xlim=(1, high), title=f"{name}: to the {words} target", xlabel=COSTS[cost])
            ax.xaxis.set_minor_locator(NullLocator())
        row[0].set_ylabel("share of problems solved")
    return drawn


@figure()
def heat(results):
    table = readings.costs(results.traces(*EVERYTHING))
    found = {name: ratio_to_best(readings.of_class(table, name)) for name in CLASSES}
    tall = [len(part.columns) for part in found.values()]
    drawn, axes = panels.plt.subplots(
        len(found), 1, figsize=(11.0, 0.21 * sum(tall) + 5.4), squeeze=False, height_ratios=tall
    )
    for ax, (name, part) in zip(axes[:, 0], found.items(), strict=True):
        seen = np.ma.masked_invalid(np.where(np.isfinite(part), part, np.nan).T)
        ax.grid(False)
        ax.set_facecolor("#F2F2F2")
        image = ax.imshow(
            seen, aspect="auto", cmap="viridis_r", norm=LogNorm(1, 100), interpolation="nearest"
        )
        ax.set_yticks(range(len(part.columns)), [called(c) for c in part.columns], fontsize=7)
        ax.set_xticks(range(len(part)), [short(p) for p in part.index], rotation=90, fontsize=5.5)
        ax.set_title(f"{name}: floats to the first target, over the best method's", loc="left")
    drawn.colorbar(image, ax=axes[:, 0], pad=0.01, aspect=40, shrink=0.5)
    return drawn


def ratio_to_best(part: pd.DataFrame) -> pd.DataFrame:
    """Medians over seeds, problem x method, the best method first."""
    found = readings.ratios(readings.matrix(part, "trips", ROUGH)).groupby(level="problem").median()
    return found[readings.areas(found, LEVELS).index]


def short(problem: str) -> str:
    """The values of a setting without their names."""
    words = problem.partition(" ")[2]
    values = [word.partition("=")[2] for word in words.split(",")]
    return " ".join({"True": "different", "False": "alike"}.get(v, v) for v in values)


@figure()
def network(results):
    table = readings.costs(results.traces(*EVERYTHING))
    drawn, axes = panels.grid(1, len(CLASSES))
    for ax, (name, experiments) in zip(axes[0], CLASSES.items(), strict=True):
        part, length = readings.of_class(table, name), readings.points(readings.facts(results, *experiments))
        counts = readings.Counts.of(part, length, ROUGH)
        first = [[counts.favourite(latency, speed)[0] for speed in BANDWIDTHS] for latency in LATENCIES]
        names = sorted({method for row in first for method in row})
        colours = distinct(names)
        image = np.array(
            [[panels.plt.matplotlib.colors.to_rgb(colours[method]) for method in row] for row in first]
        )
        ax.grid(False)
        ax.pcolormesh(BANDWIDTHS, LATENCIES, image, shading="nearest", rasterized=True)
        ax.set(xscale="log", yscale="log", xlabel="bandwidth of a client (bytes a second)", title=name)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_minor_locator(NullLocator())
        handles = [Patch(color=colours[n], label=called(n) if n else "nobody arrives") for n in names]
        ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2, fontsize=7.5)
    axes[0, 0].set_ylabel("latency of an exchange (seconds)")
    return drawn


@piece("network")
def own_network(results):
    return sliders(results, readings.costs(results.traces(*EVERYTHING)))


def distinct(names: list[str]) -> dict[str, str]:
    """The methods' own colours; where two in one map share theirs, the second takes a spare one."""
    taken: dict[str, str] = {}
    for name in names:
        own = style.colour(name) if name else "#FFFFFF"
        free = [c for c in (own, *style.SPARE, style.BLACK) if c not in taken.values()]
        taken[name] = free[0]
    return taken


@figure()
def which(results):
    table = readings.costs(results.traces("arena_smooth"))
    lines = readings.advice(table, readings.facts(results, "arena_smooth"))
    drawn, ((ax,),) = panels.plt.subplots(1, 1, figsize=(9.0, 0.28 * len(lines) + 0.9), squeeze=False)
    ax.axis("off")
    cells = [
        [line.problems, str(line.count), line.network, called(line.method) or "nobody", f"{line.share:.0%}"]
        for line in lines.itertuples()
    ]
    heads = ["smooth problems", "problems", "network", "first most often", "share of them"]
    shown = ax.table(
        cells,
        colLabels=heads,
        loc="center",
        cellLoc="left",
        colLoc="left",
        colWidths=[0.34, 0.1, 0.18, 0.24, 0.14],
    )
    shown.auto_set_font_size(False)
    shown.set_fontsize(8.5)
    for (row, _), cell in shown.get_celld().items():
        cell.set_linewidth(0.0)
        cell.set_facecolor("#EAEAEA" if row == 0 else "#FFFFFF" if row % 4 in (1, 2) else "#F6F6F6")
    return drawn


@figure()
def known(results):
    rows, refs = results.traces("arena_known"), results.reference("arena_known")
    table = readings.costs(rows)
    drawn, (((left, right),)) = panels.grid(1, 2)
    part = table[(table.algorithm == "proxskip") & (table.target == FINE)].copy()
    part["kappa"] = [readings.kappa_of(refs, s, k) for s, k in zip(part.setting, part.seed, strict=True)]
    groups = [g for _, g in part.groupby("setting", sort=False)]
    kappas = np.array([g.kappa.median() for g in groups])
    order = np.argsort(kappas)
    panels.points(left, kappas[order], [groups[i].trips for i in order], colour=style.colour("proxskip"),
                  label=called("proxskip"))  # fmt: skip
    first = float(np.median(groups[order[0]].trips))
    left.plot(kappas[order], first * np.sqrt(kappas[order] / kappas[order[0]]), color=style.GREY,
              ls=style.DASHES[2], label="square root of the condition number")  # fmt: skip
    left.set(
        xscale="log", yscale="log", xlabel="condition number", ylabel="floats to the last target, in trips"
    )
    left.legend()
    easiest = part.loc[part.kappa.idxmin(), "setting"]
    for name in ("fedgd_local", "scaffold", "shed_full"):
        cells = rows[(rows.algorithm == name) & (rows.setting == easiest)]
        cells = cells.assign(share=cells.gap / cells.groupby("seed").gap.transform("first"))
        panels.curve(right, cells, "share", floor=1e-16)
    right.set(xscale="symlog", yscale="log", xlabel="round", ylabel="gap over that at the start")
    right.legend()
    return drawn
