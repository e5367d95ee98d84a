"""The figures of Niu & Wei, each drawn against iterations and against floats sent, and ours that settle the rest."""

import re

import matplotlib as mpl
import matplotlib.ticker
import numpy as np

from fedrepro.experiments.registry import figure
from fedrepro.papers.fedhybrid.readings import (
    CHOICES,
    SETTLING,
    SETUPS,
    SHUFFLED,
    STIFFNESS,
    UNSTATED,
    against_fedavg,
    beside_stiffness,
    contraction,
    horizon,
    price,
)
from fedrepro.papers.fedhybrid.theory import rates
from fedrepro.reporting import panels, style

GAP = r"$F(x_0^k) - F^\star$"
ERROR = r"$\|x_0^k - x^\star\| / \|x^\star\|$"
LOSS = r"$\log F(x_0^k)$"
OURS = {"fedavg", "disco", "giant", "fedh_g", "fedh_k", "fedh_k_settle", "fedh_n"}
TITLES = {
    "setup1": "(1) synthetic least squares",
    "setup2": "(2) Boston housing",
    "setup3": "(3) Synthetic(0.5, 0.5)",
    "setup4": "(4) Mushroom",
}


@figure()
def fig1(results):
    return two_by_two(results, compared, ("setup2", "gap", GAP), ("setup4", "gap", GAP))


@figure()
def fig2(results):
    return two_by_two(results, by_count, ("setup2", "gap", GAP), ("setup3", "gap", GAP))


@figure()
def fig3(results):
    return two_by_two(results, compared, ("setup1", "distance", ERROR), ("setup3", "log_loss", LOSS))


@figure()
def fig4(results):
    return two_by_two(results, by_count, ("setup1", "gap", GAP), ("setup4", "gap", GAP))


def two_by_two(results, draw, *wanted):
    """A row per setup: against iterations, and against floats sent."""
    figure, axes = panels.grid(2, 2, sharey="row")
    for row, (setup, y, label) in zip(axes, wanted, strict=True):
        rows = results.traces(f"fedhybrid_{setup}")
        rows = rows[~rows.params.str.contains("100]", regex=False)]  # stepsizes up to 1, as printed
        rows = rows[rows["round"] <= horizon(results, setup)].assign(floats=rows.floats_up + rows.floats_down)
        if y == "log_loss":
            # every seed has its own lowest loss: the first draw alone, as the paper shows one
            rows = rows[rows.seed == 0].assign(log_loss=np.log(rows.value))
        for ax, x in zip(row, ("round", "floats"), strict=True):
            draw(ax, rows, x, y)
            ax.set(title=TITLES[setup])
            if y == "gap":
                ax.set(yscale="log")
        row[0].set(xlabel="iteration $k$", ylabel=label)
        row[1].set(xlabel="floats sent", xscale="log")
        row[1].xaxis.set_minor_formatter(mpl.ticker.NullFormatter())
    # the legends stand beside the panels, which curves fill from corner to corner
    for row in axes:
        row[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def compared(ax, rows, x, y):
    """FedAvg, DiSCO, GIANT and FedHybrid with none, some and all Newton clients."""
    curve(ax, rows[rows.algorithm == "fedavg"], y, x=x)
    disco = rows[rows.algorithm == "disco"]
    curve(ax, disco[disco.p_damped == "True"], y, x=x, label="DiSCO, damped")
    curve(ax, disco[disco.p_damped == "False"], y, x=x, label="DiSCO, unit step", dash=style.DASHES[2])
    for name in ("giant", "fedh_g"):
        curve(ax, rows[rows.algorithm == name], y, x=x)
    mixed = rows[rows.algorithm == "fedh_k"]
    for dash, (count, cells) in zip(style.DASHES[:0:-1], by_newton(mixed), strict=False):
        curve(ax, cells, y, x=x, label=f"FedH-{count}", dash=dash)
    curve(ax, rows[rows.algorithm == "fedh_n"], y, x=x)
    panels.newcomers(ax, rows, y, OURS, draw=curve, x=x)


def by_count(ax, rows, x, y):
    """FedHybrid with 0 to n Newton clients, from light to dark."""
    counts = by_newton(rows[rows.algorithm == "fedh_k"])
    cells = [rows[rows.algorithm == "fedh_g"], *(c for _, c in counts), rows[rows.algorithm == "fedh_n"]]
    names = ["FedH-G (none)", *(f"FedH-{k}" for k, _ in counts), "FedH-N (all)"]
    for i, (name, part) in enumerate(zip(names, cells, strict=True)):
        curve(ax, part, y, x=x, label=name, colour=shade(0.12 + 0.8 * i / (len(names) - 1)))


def curve(ax, cells, y, *, x, **look):
    """Against floats a curve joins the medians of each round: the seeds do not share their floats."""
    floor = 1e-13 if y == "gap" else None
    if x == "floats":
        cells = cells.assign(floats=cells.groupby("round").floats.transform("median"))
        cells = cells[cells["round"] > 0]
    panels.curve(ax, cells, y, x=x, floor=floor, **look)


def by_newton(rows):
    return sorted(((int(k), cells) for k, cells in rows.groupby("p_newton")), key=lambda pair: pair[0])


def shade(level):
    """From light to dark, in grey too."""
    return mpl.colormaps["plasma_r"](level)


SLOWEST = 1e-2  # a run that does not move, or diverges, is drawn here
MARKS = {1: (-0.27, "o"), 3: (0.0, "^"), 10: (0.27, "s")}  # by the horizons watched: where, and how


def watched(results, experiment):
    """Ratios of speeds over the rounds that methods were tuned for."""
    cells = against_fedavg(results, experiment)
    return cells[cells.times == 1]


@figure()
def settle_h1(results):
    """FedHybrid's speed over FedAvg's, a dot per seed."""
    figure, axes = panels.grid(2, 2, sharey=True)
    looks = [(c, f) for c in ("random", "stiffest") for f in (False, True)]
    for ax, setup, choices in zip(axes.ravel(), SETUPS, CHOICES, strict=True):
        cells, half = against_fedavg(results, setup), against_fedavg(results, choices)
        groups = [("G", cells[cells.algorithm == "fedh_g"])]
        groups += [(f"{k}", c) for k, c in by_newton(cells[cells.algorithm == "fedh_k"])]
        groups += [("N", cells[cells.algorithm == "fedh_n"])]
        groups += [
            (f"n/2\n{c}\n{'free' if f else 'up to 1'}", half[(half.chosen == c) & (half.free == f)])
            for c, f in looks
        ]
        for i, (_, part) in enumerate(groups):
            name = part.algorithm.iloc[0].removesuffix("_settle")
            for times, (place, marker) in MARKS.items():
                ratios = part[part.times == times].ratio.clip(lower=SLOWEST)
                shift = place + np.linspace(-0.08, 0.08, len(ratios))
                ax.plot(i + shift, ratios, marker, ms=3, color=style.colour(name), alpha=0.7)
                ax.plot(
                    [i + place - 0.12, i + place + 0.12], [ratios.median()] * 2, color=style.BLACK, lw=1.2
                )
        ax.axhline(1, color=style.colour("fedavg"), lw=1.2)
        ax.axvline(len(groups) - len(looks) - 0.5, color=style.GREY, lw=0.8, ls=(0, (2, 2)))
        ax.set_xticks(range(len(groups)), [name for name, _ in groups])
        ax.tick_params(axis="x", labelsize=6.5)
        ax.set(yscale="log", title=TITLES[setup])
    for ax in axes[:, 0]:
        ax.set_ylabel("speed, FedH over FedAvg")
    for ax in axes[1]:
        ax.set_xlabel("Newton clients")
    return figure


@figure()
def settle_h3(results):
    """Iterations, exchanges and floats to 1e-6 of the starting gap."""
    figure, (axes,) = panels.grid(1, 3)
    looks = {
        "fedh_n": ("FedH-N", style.colour("fedh_n"), "s"),
        "disco damped": ("DiSCO, damped", style.colour("disco"), "o"),
        "disco unit step": ("DiSCO, unit step", style.colour("disco"), "D"),
    }
    tables = {setup: table[table.level == 1e-6] for setup in SETUPS for table in [price(results, setup)]}
    for ax, unit in zip(axes, ("iterations", "exchanges", "floats"), strict=True):
        for j, (method, (label, colour, marker)) in enumerate(looks.items()):
            for i, setup in enumerate(SETUPS):
                values = tables[setup][tables[setup].method == method]
                reached = values[values.reached][unit]
                filled = "white" if marker == "D" else colour
                ax.plot([i + 0.2 * (j - 1)] * len(reached), reached, marker, ms=4, color=colour, mfc=filled, alpha=0.7,
                        label=label if i == 0 else None)  # fmt: skip
                if len(reached) < len(values):
                    place = (i + 0.2 * (j - 1), 0.99 - 0.05 * j)
                    words = f"{len(values) - len(reached)} not"
                    ax.annotate(
                        words,
                        place,
                        xycoords=("data", "axes fraction"),
                        ha="center",
                        va="top",
                        fontsize=6.5,
                        color=colour,
                    )
        ax.set_xticks(range(4), ["(1)", "(2)", "(3)", "(4)"])
        ax.set(yscale="log", xlabel="setup", ylabel=f"{unit} to $10^{{-6}}$ of the gap")
        ax.set_xlim(-0.6, 3.6)
        ax.margins(y=0.2)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@figure()
def unstated(results):
    """FedH with half Newton clients over FedAvg, for every unstated value tried."""
    figure, ((ax,),) = panels.grid(1, 1)
    names, i = [], 0
    for experiment, setup in zip(UNSTATED, SETUPS, strict=True):
        if i:
            ax.axhline(i - 0.5, color=style.GREY, lw=0.6)
        for setting, cells in watched(results, experiment).groupby("setting", sort=False):
            ax.plot(cells.ratio.clip(SLOWEST), [i] * len(cells), "o", ms=4, color=style.colour("fedh_k"))
            values = re.sub("reading=|normalise=", "", setting).replace("_", " ").replace(",", ", ")
            names.append(f"{TITLES[setup][:3]} {values}")
            i += 1
    figure.set_size_inches(8.0, 1.2 + 0.21 * i)
    ax.axvline(1, color=style.colour("fedavg"), lw=1.2)
    ax.set_yticks(range(i), names, fontsize=8)
    ax.set(xscale="log", xlabel="speed, FedH-n/2 over FedAvg", ylim=(i - 0.5, -0.5))
    return figure


@figure()
def tuning(results):
    """Winners of both rules, beyond the rounds they were tuned for."""
    rows = results.traces("fedhybrid_tuning")
    figure, (axes,) = panels.grid(1, 2, sharey=True)
    planned = horizon(results, "tuning")
    for ax, name in zip(axes, ("fedavg", "fedh_k"), strict=True):
        for rule, dash, colour in (("decay", "-", style.colour(name)), ("final", (0, (3, 1.5)), style.BLACK)):
            cells = rows[(rows.algorithm == name) & (rows.score == rule)]
            for seed, one in cells.groupby("seed"):
                label = (
                    f"chosen by {'the decay' if rule == 'decay' else 'the final gap'}" if seed == 0 else None
                )
                relative = one.gap / one.gap.iloc[0]
                ax.plot(
                    one["round"],
                    relative.clip(1e-14, 1e6),
                    color=colour,
                    ls=dash,
                    lw=1,
                    alpha=0.8,
                    label=label,
                )
        ax.axvline(planned, color=style.GREY, ls=(0, (1, 1)), lw=1)
        title = "FedAvg" if name == "fedavg" else "FedH, half of the clients Newton"
        ax.set(yscale="log", xlabel="iteration $k$", title=title)
        ax.legend()
    axes[0].set_ylabel("gap, of its start")
    return figure


@figure()
def settling(results):
    """Speed over FedAvg's by the number of points that both may try."""
    figure, axes = panels.grid(2, 2)
    for ax, experiment, setup in zip(axes.ravel(), SETTLING, SETUPS, strict=True):
        cells = watched(results, experiment)
        counts = by_newton(cells)
        for i, (count, some) in enumerate(counts):
            colour = shade(0.3 + 0.6 * i / max(1, len(counts) - 1))
            for seed, one in some.groupby("seed"):
                one = one.sort_values("points")
                label = f"FedH-{count}" if seed == 0 else None
                ax.plot(one.points, one.ratio.clip(SLOWEST), "o-", ms=3, lw=1, color=colour, label=label)
        ax.axhline(1, color=style.colour("fedavg"), lw=1.2)
        ax.set(xscale="log", yscale="log", title=TITLES[setup])
        ax.set_xticks(sorted(cells.points.unique()), [f"{p:,g}" for p in sorted(cells.points.unique())])
        ax.xaxis.set_minor_locator(mpl.ticker.NullLocator())
        ax.legend(fontsize=7.5)
    for ax in axes[:, 0]:
        ax.set_ylabel("speed, FedH over FedAvg")
    for ax in axes[1]:
        ax.set_xlabel("points every method may try")
    return figure


@figure()
def shuffled(results):
    """Exchanges of DiSCO, a dot per preconditioning client and seed."""
    figure, (axes,) = panels.grid(1, 4, sharey=True)
    for ax, experiment, setup in zip(axes, SHUFFLED, SETUPS, strict=True):
        table = price(results, experiment)
        cells = table[(table.method == "disco unit step") & (table.p_mu == "0.01") & (table.level == 1e-6)]
        for i, kind in enumerate(("unlike", "shuffled")):
            some = cells[(cells.clients == kind) & cells.reached].exchanges
            place = i + np.linspace(-0.25, 0.25, len(some)) if len(some) > 1 else [i]
            ax.plot(place, some, "o", ms=3, color=style.colour("disco"), alpha=0.6)
            ax.plot([i - 0.35, i + 0.35], [some.median()] * 2, color=style.BLACK, lw=1.2)
        ax.set_xticks([0, 1], ["unlike", "shuffled"])
        ax.set(title=TITLES[setup][:3], yscale="log", xlim=(-0.6, 1.6))
    axes[0].set_ylabel("exchanges to $10^{-6}$ of the gap")
    return figure


@figure()
def stiffness(results):
    """Speed against the stiffest gradient client."""
    figure, (axes,) = panels.grid(1, 3)
    looks = {"random": ("o", style.GREY), "stiffest": ("^", style.GREEN), "softest": ("v", style.RED)}
    for ax, experiment, setup in zip(axes, STIFFNESS, SETUPS, strict=False):
        cells = beside_stiffness(results, experiment)
        cells = cells[cells.times == 1]
        for chosen, (marker, colour) in looks.items():
            some = cells[cells.p_chosen == chosen]
            ax.plot(some.stiffest, some.speed, marker, ms=4, color=colour, alpha=0.7, label=chosen)
        ax.set(xscale="log", yscale="log", title=TITLES[setup], xlabel="stiffest gradient client")
    axes[0].set_ylabel("decades a round")
    axes[0].legend(title="Newton clients", fontsize=7.5)
    return figure


@figure()
def theorem(results):
    """Δ by round beside the proved bound, and the slowest round over ρ."""
    rows = results.traces("fedhybrid_theorem")
    table = results.reference("fedhybrid_theorem")
    rows = rows[(rows.kappa == 10) & (rows.p_mu == "1")]
    figure, ((left, right),) = panels.grid(1, 2)
    groups = by_newton(rows)
    for i, (count, cells) in enumerate(groups):
        colour = shade(0.12 + 0.8 * i / (len(groups) - 1))
        error = cells.assign(error=13 * cells.dual_gap + cells.tracking_error)
        error["error"] /= error.groupby("seed").error.transform("first")
        panels.curve(left, error, "error", label=f"{count} Newton clients", colour=colour)
        ref = table[cells.setting.iloc[0], 0]
        rho = rates(
            ref.constants["low"], ref.constants["high"], ref.constants["order"][:count].astype(int), 1.0
        )["proved"]
        k = np.sort(cells["round"].unique())
        left.plot(k, (1 - rho) ** k, color=colour, ls=(0, (1, 1.4)), lw=1.2)
    left.plot([], [], color=style.BLACK, ls=(0, (1, 1.4)), lw=1.2, label=r"bound $(1-\rho)^k$, as proved")
    left.set(yscale="log", xlabel="iteration $k$", ylabel=r"$13\Delta_\lambda^k + \Delta_x^k$, of its start")
    left.set_title(r"random quadratics, $\kappa = 10$, $\mu = 1$")
    left.legend()
    opposed = contraction(results, "counterexample").sort_values("kappa")
    random = contraction(results, "theorem")
    for name, colour, marker in (("proved", style.GREEN, "o"), ("printed", style.RED, "s")):
        right.plot(
            opposed.kappa,
            opposed[name],
            color=colour,
            marker=marker,
            ms=5,
            label=f"two opposed clients, $\\rho$ as {name}",
        )
        worst = random.groupby("kappa")[name].min()
        right.plot(worst.index, worst, color=colour, marker=marker, ms=5, mfc="white", ls="none",
                   label=f"random mixes, worst of all, $\\rho$ as {name}")  # fmt: skip
    right.axhline(1, color=style.BLACK, lw=1)
    right.set(
        xscale="log",
        yscale="log",
        xlabel=r"$\kappa = \ell/m$",
        ylabel=r"slowest round's contraction over $\rho$",
    )
    right.set_xticks(
        sorted({*opposed.kappa, *random.kappa}), [f"{k:g}" for k in sorted({*opposed.kappa, *random.kappa})]
    )
    right.xaxis.set_minor_locator(mpl.ticker.NullLocator())
    right.legend(fontsize=7.5)
    return figure
