"""The figures of Pathak & Wainwright 2020, and ours that settle what they leave open."""

import numpy as np

from fedrepro.experiments.registry import figure
from fedrepro.maths.steps import parse
from fedrepro.papers.fedsplit.readings import floors, inner_contraction
from fedrepro.reporting import panels, style
from fedrepro.reporting.names import called

GAP = r"$F(x^{(t)}) - F^\star$"
OURS = {"fedgd", "fedgd_limit", "fedprox", "fedprox_limit", "fedsplit", "fedsplit_inexact"}


@figure()
def fig1(results):
    """Optimality gap by round; dotted lines at the closed-form fixed points (9)–(10)."""
    rows = results.traces("fedsplit_fig1")
    figure, ((ax,),) = panels.grid()
    for dash, (steps, cells) in zip(
        style.DASHES, by_number(rows[rows.algorithm == "fedgd"], "p_local_steps"), strict=False
    ):
        panels.curve(ax, cells, "gap", label=f"FedGD, e = {steps}", dash=dash)
    for name in ("fedprox", "fedsplit"):
        panels.curve(ax, rows[rows.algorithm == name], "gap")
    panels.newcomers(ax, rows, "gap", OURS)
    ends = results.ends("fedsplit_fig1")
    limits = ends[(ends.algorithm == "fedgd_limit") & (ends.p_local_steps != "1")]
    for _, cells in by_number(limits, "p_local_steps"):
        panels.level(ax, cells.gap, colour=style.BLACK)
    panels.level(
        ax, ends[ends.algorithm == "fedprox_limit"].gap, colour=style.BLACK, label="closed-form fixed points"
    )
    ax.set(yscale="log", xlabel="round $t$", ylabel=GAP, ylim=(1e-12, None))
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.62))
    return figure


@figure()
def fig1_steps(results):
    """Height of the plateau against the stepsize."""
    ends = results.ends("fedsplit_fig1_steps")
    figure, ((left, right),) = panels.grid(1, 2, sharey=True)
    for steps, cells in by_number(ends[ends.algorithm == "fedgd"], "p_local_steps"):
        dash = style.DASHES[0 if steps == 1 else 1]  # as in figure 1
        against_step(left, cells, label=f"FedGD, e = {steps}", dash=dash)
    against_step(right, ends[ends.algorithm == "fedprox"], label="FedProx")
    left.set(
        xscale="log", yscale="log", xlabel="stepsize, in units of $1/L^*$", ylabel=f"{GAP} at the last round"
    )
    left.set_ylim(1e-12, None)
    right.set(xscale="log", xlabel=r"stepsize, in units of $1/\sqrt{\ell_* L^*}$")
    left.legend(handlelength=4, loc="center right")
    right.legend(loc="center right")
    return figure


@figure()
def fig2a(results):
    """Logistic regression: exact and inexact proximal steps, from either start of the inner solver."""
    rows = results.traces("fedsplit_fig2a")
    inexact = rows[rows.algorithm == "fedsplit_inexact"]
    figure, (axes,) = panels.grid(1, 2, sharey=True)
    for ax, start, words in zip(
        axes, ("point", "last"), ("the point itself", "the last solution"), strict=True
    ):
        panels.curve(ax, rows[rows.algorithm == "fedgd"], "gap", label="FedGD, e = 1")
        panels.curve(ax, rows[rows.algorithm == "fedsplit"], "gap", label="FedSplit, exact")
        chosen = by_number(inexact[inexact.p_prox_start == start], "p_prox")
        for dash, (steps, cells) in zip(style.DASHES[1:], chosen, strict=False):
            panels.curve(ax, cells, "gap", label=f"FedSplit, e = {steps}", dash=dash)
        panels.newcomers(ax, rows, "gap", OURS)
        ax.set(yscale="log", xlabel="round $t$", title=f"inner solver starts at {words}", ylim=(1e-12, None))
    axes[0].set_ylabel(GAP)
    axes[0].legend(loc="lower right")
    return figure


@figure()
def fig2a_steps(results):
    """Final gap against the stepsize, since ℓ* is not stated."""
    ends = results.ends("fedsplit_fig2a_steps")
    figure, ((ax,),) = panels.grid()
    against_step(ax, ends[ends.algorithm == "fedsplit"], label="FedSplit, exact")
    inexact = ends[ends.algorithm == "fedsplit_inexact"]
    for dash, (start, cells) in zip(style.DASHES[1:], inexact.groupby("p_prox_start"), strict=False):
        against_step(ax, cells, label=f"FedSplit, e = 10, from the {start}", dash=dash)
    last = int(ends["round"].max())
    ax.set(
        xscale="log", yscale="log", xlabel=r"stepsize, in units of $1/\sqrt{\ell_* L^*}$", ylim=(1e-12, None)
    )
    ax.set_ylabel(f"{GAP} after {last} rounds")
    ax.legend()
    return figure


@figure()
def fig2b(results):
    """Cost and held-out accuracy on handwritten characters."""
    rows = results.traces("fedsplit_fig2b")
    figure, ((left, right),) = panels.grid(1, 2)
    for name in ("fedgd", "fedsplit"):
        panels.curve(left, rows[rows.algorithm == name], "value")
        panels.curve(right, rows[rows.algorithm == name], "accuracy")
    panels.newcomers(left, rows, "value", OURS)
    panels.newcomers(right, rows, "accuracy", OURS)
    left.set(yscale="log", xlabel="round $t$", ylabel=r"cost $F(x^{(t)})$")
    right.set(xlabel="round $t$", ylabel="accuracy on held-out images", ylim=(0, 1))
    left.legend()
    return figure


@figure()
def fig2b_steps(results):
    """Cost by round for several stepsizes."""
    rows = results.traces("fedsplit_fig2b_steps")
    figure, ((left, right),) = panels.grid(1, 2, sharey=True)
    for ax, name in ((left, "fedgd"), (right, "fedsplit")):
        groups = sorted(rows[rows.algorithm == name].groupby("p_step"), key=lambda g: parse(g[0])[0])
        for dash, (step, cells) in zip(style.DASHES, groups, strict=False):
            panels.curve(ax, cells, "value", label=f"{called(name)}, {pretty(step)}", dash=dash)
        ax.set(yscale="log", xlabel="round $t$")
        ax.legend()
    left.set_ylabel(r"cost $F(x^{(t)})$")
    return figure


@figure()
def fig3a(results):
    """log gap by round at three condition numbers."""
    rows = results.traces("fedsplit_fig3")
    shown = sorted(rows.kappa.unique())
    wanted = [k for k in (100, 1000, 10000) if k in shown] or shown
    figure, (axes,) = panels.grid(1, len(wanted), sharey=True)
    for ax, kappa in zip(axes, wanted, strict=True):
        for name in ("fedgd", "fedsplit"):
            panels.curve(ax, rows[(rows.algorithm == name) & (rows.kappa == kappa)], "gap")
        panels.newcomers(ax, rows[rows.kappa == kappa], "gap", OURS)
        ax.axhline(1e-3, color=style.GREY, lw=1, ls=(0, (1, 1)))
        ax.set(xscale="log", yscale="log", xlabel="round $t$", title=rf"$\kappa$ = {kappa:,.0f}")
    axes[0].set_ylabel(GAP)
    axes[0].legend()
    return figure


@figure()
def fig3b(results):
    """Rounds to 1e-3 against κ, with the slopes of eq. (22)."""
    ends = results.ends("fedsplit_fig3")
    figure, ((ax,),) = panels.grid()
    for name, power, marker in (("fedgd", 1.0, "o"), ("fedsplit", 0.5, "s")):
        groups = [
            (k, cells["round"].to_numpy()) for k, cells in ends[ends.algorithm == name].groupby("kappa")
        ]
        kappa = np.array([k for k, _ in groups])
        panels.points(
            ax,
            kappa,
            [g for _, g in groups],
            colour=style.colour(name),
            label=called(name),
            marker=marker,
        )
        guide = np.median(groups[-1][1]) * (kappa / kappa[-1]) ** power
        words = r"$\propto \kappa$" if power == 1 else r"$\propto \sqrt{\kappa}$"
        ax.plot(kappa, guide, color=style.colour(name), ls=(0, (1, 1.4)), lw=1, label=words)
    ax.set(
        xscale="log",
        yscale="log",
        xlabel=r"condition number $\kappa$",
        ylabel=r"$T(10^{-3}, \kappa)$, rounds",
    )
    ax.legend()
    return figure


@figure()
def fig3_settle(results):
    """Rounds at the largest κ for each stepsize and start."""
    ends = results.ends("fedsplit_fig3_settle")
    figure, ((ax,),) = panels.grid()
    names, heights = [], []
    order = ("1/L*", "2/(l*+L*)", "1/L_F", "2/(l_F+L_F)", "1/sqrt(l*L*)")
    for step in order:
        names.append(f"{called(ends[ends.p_step == step].algorithm.iloc[0])}\n{pretty(step)}")
    for offset, (start, filled) in zip((-0.12, 0.12), (("zero", True), ("normal", False)), strict=True):
        for i, step in enumerate(order):
            cells = ends[(ends.p_step == step) & (ends.start == start)]
            mid = cells["round"].median()
            heights.append(mid)
            colour = style.colour(cells.algorithm.iloc[0])
            error = [[mid - cells["round"].min()], [cells["round"].max() - mid]]
            ax.errorbar(i + offset, mid, yerr=error, fmt="o" if filled else "D", color=colour, capsize=3,
                        mfc=colour if filled else "white", label=f"start: {start}" if i == 0 else None)  # fmt: skip
    if results.scale == "paper":
        for value in (34_000, 400):
            ax.axhline(value, color=style.BLACK, lw=1, ls=(0, (1, 1)))
            ax.text(2, value * 1.06, f"paper: {value:,}", ha="center", va="bottom", fontsize=8)
    ax.set(yscale="log", ylabel="rounds to $10^{-3}$")
    ax.set_xticks(range(len(order)), names)
    ax.tick_params(axis="x", labelsize=8)
    panels.legend_above(figure, 2)
    return figure


@figure()
def theorem2(results):
    """Rounds against the accuracy asked for."""
    ends = results.ends("fedsplit_theorem2")
    figure, ((ax,),) = panels.grid()
    groups = [(float(e), cells["round"].to_numpy()) for e, cells in ends.groupby("p_epsilon")]
    groups.sort()
    eps = np.array([e for e, _ in groups])
    panels.points(
        ax,
        eps,
        [g for _, g in groups],
        colour=style.colour("fedsplit_regularised"),
        label="FedSplit, regularised",
    )
    guide = np.median(groups[0][1]) * np.sqrt(eps[0] / eps)
    ax.plot(eps, guide, color=style.BLACK, ls=(0, (1, 1.4)), lw=1, label=r"$\propto 1/\sqrt{\varepsilon}$")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel=r"accuracy $\varepsilon$ asked for",
        ylabel=r"rounds to $F - F^\star \leq \varepsilon$",
    )
    ax.invert_xaxis()
    ax.legend()
    return figure


@figure()
def perturbed(results):
    """Distance over Theorem 1's bound by round, by condition number and kind of error."""
    rows, table = results.traces("fedsplit_perturbed"), results.reference("fedsplit_perturbed")
    kappas = sorted(rows.kappa.unique())
    figure, (axes,) = panels.grid(1, len(kappas), sharey=True)
    for ax, kappa in zip(axes, kappas, strict=True):
        own = rows[(rows.kappa == kappa) & (rows["round"] > 0)].copy()
        ref = next(ref.constants for (name, _), ref in table.items() if name == own.setting.iloc[0])
        own["over"] = own.distance / ((np.sqrt(ref["L*"] / ref["l*"]) + 1) * own.p_error.astype(float))
        for colour, (direction, cells) in zip(
            (style.BLUE, style.RED), own.groupby("p_direction"), strict=False
        ):
            for dash, (error, part) in zip(style.DASHES, cells.groupby("p_error"), strict=False):
                panels.curve(
                    ax, part, "over", label=f"{direction} direction, b = {error}", colour=colour, dash=dash
                )
        ax.axhline(1.0, color=style.BLACK, lw=1, ls=(0, (5, 2)))
        ax.set(yscale="log", xlabel="round $t$", title=rf"$\kappa$ = {kappa:,.0f}")
    axes[0].set_ylabel("distance to the optimum over the bound")
    panels.legend_above(figure, 4)
    return figure


@figure()
def inexact(results):
    """Where e gradient steps per prox end, by e."""
    figure, (axes,) = panels.grid(1, 2, sharey=True)
    for ax, experiment, words in zip(
        axes,
        ("fedsplit_inexact_logistic", "fedsplit_inexact_squares"),
        ("figure 2(a)", "figure 1"),
        strict=True,
    ):
        ends = floors(results.traces(experiment))
        ends = ends[ends.algorithm == "fedsplit_inexact"]
        for colour, (start, cells) in zip((style.BLUE, style.RED), ends.groupby("p_prox_start"), strict=True):
            for dash, (step, part) in zip(style.DASHES, cells.groupby("p_step", sort=False), strict=False):
                groups = [(e, c.floor.clip(lower=1e-14)) for e, c in by_number(part, "p_prox")]
                finite = [(e, g[np.isfinite(g)]) for e, g in groups if np.isfinite(g).any()]
                if finite:
                    panels.points(ax, [e for e, _ in finite], [g.to_numpy() for _, g in finite], colour=colour,
                                  label=f"from the {start}, {pretty(step)}", dash=dash)  # fmt: skip
                for e, g in groups:
                    if np.isinf(g).any():
                        ax.plot([e], [1.0], "x", color=colour, ms=7, mew=2)
                falling = part[part.falling]
                ax.plot(falling.p_prox.astype(int), falling.floor, "o", ms=9, color=colour, mfc="none")
        ax.set(
            yscale="log", xlabel="gradient steps e per prox", title=f"problem of {words}", xticks=[1, 5, 10]
        )
    axes[0].set_ylabel("gap at the end over the starting gap")
    panels.legend_above(figure, 3, handlelength=4)
    return figure


@figure()
def corollary1(results):
    """The proxes' errors by round, and what e gradient steps leave of them, beside (18)."""
    rows, table = results.traces("fedsplit_inexact_squares"), results.reference("fedsplit_inexact_squares")
    own = rows[(rows.algorithm == "fedsplit_inexact") & (rows.p_step == "1/sqrt(l*L*)") & (rows["round"] > 0)]
    ref = table[own.setting.iloc[0], 0]
    kappa = ref.constants["L*"] / ref.constants["l*"]
    figure, (axes,) = panels.grid(1, 2)
    for colour, (start, cells) in zip((style.BLUE, style.RED), own.groupby("p_prox_start"), strict=True):
        groups = by_number(cells, "p_prox")
        for dash, (e, part) in zip(style.DASHES, groups, strict=False):
            words = f"from the {start}, e = {e}"
            panels.curve(axes[0], part, "prox_error", label=words, colour=colour, dash=dash)
        worst = [(e, part.groupby("seed").prox_contraction.max().dropna().to_numpy()) for e, part in groups]
        known = [(e, values) for e, values in worst if len(values)]
        panels.points(axes[1], *zip(*known, strict=True), colour=colour, label=None)
    steps = np.arange(1, groups[-1][0] + 1)
    axes[0].axhline(ref.facts["z_distance"] / (np.sqrt(kappa) + 1.0), color=style.BLACK, lw=1, ls=(0, (1, 1)))
    axes[1].plot(
        steps, inner_contraction(kappa) ** steps, color=style.BLACK, lw=1, ls=(0, (5, 2)), label="eq. (18)"
    )
    axes[0].set(yscale="log", xlabel="round $t$", ylabel="error b of the proxes")
    axes[1].set(
        yscale="log", xlabel="gradient steps e per prox", ylabel="part of the error left", xticks=[1, 5, 10]
    )
    panels.legend_above(figure, 4, handlelength=4)
    return figure


@figure()
def regularisation(results):
    """Held-out accuracy against λ."""
    ends = results.ends("fedsplit_regularisation")
    figure, ((ax,),) = panels.grid()
    groups = sorted((float(reg), cells.accuracy.to_numpy()) for reg, cells in ends.groupby("reg"))
    panels.points(
        ax, [r for r, _ in groups], [g for _, g in groups], colour=style.colour("fedsplit"), label="FedSplit"
    )
    ax.axvline(0.01, color=style.BLACK, lw=1, ls=(0, (1, 1)), label="the paper's choice")
    ax.set(xscale="log", xlabel=r"regularisation $\lambda$", ylabel="accuracy on held-out images")
    ax.legend()
    return figure


def by_number(rows, column):
    """Groups in numeric order of a hyper-parameter column."""
    return sorted(((int(key), cells) for key, cells in rows.groupby(column)), key=lambda pair: pair[0])


def against_step(ax, ends, *, label, dash="-"):
    """Median and range of the final gap over seeds, by the stepsize's numerator."""
    groups = sorted(
        (parse(step)[0], cells.gap.clip(lower=1e-12).to_numpy()) for step, cells in ends.groupby("p_step")
    )
    name = ends.algorithm.iloc[0]
    panels.points(
        ax, [s for s, _ in groups], [g for _, g in groups], colour=style.colour(name), label=label, dash=dash
    )


def pretty(step: str) -> str:
    """A stepsize rule in the paper's notation."""
    symbols = (("sqrt(l*L*)", r"\sqrt{\ell_*L^*}"), ("l*", r"\ell_*"), ("L*", "L^*"), ("l_F", r"\ell_F"))
    for plain, symbol in symbols:
        step = step.replace(plain, symbol)
    return f"${step}$"
