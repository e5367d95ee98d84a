"""The figures of Dal Fabbro et al., and ours on what they leave open."""

import numpy as np

from fedrepro.claims.shed_readings import reach, readings, spent
from fedrepro.claims.shed_sharing import lyapunov
from fedrepro.figures import panels, style
from fedrepro.figures.shed_choices import SKEW, choices, gradient_norm, sensitivity  # noqa: F401 (figures are sought here)
from fedrepro.renewals import rule

COST = r"relative cost $f(\theta^t) - f(\theta^\star)$"
ROUNDS = "communication rounds"
VECTORS = r"vectors in $\mathbb{R}^n$ sent per agent"
INCREMENTS = (
    ("1", style.BLACK),
    ("3", style.BLUE),
    ("6", style.GREEN),
    ("30", style.ORANGE),
    ("channel", style.RED),
)
NEWS = {"mu": 1e-5, "intercept": False}  # the reading that is drawn
IMAGES = ("giant", "fednl", "mont_dec", "fib_shed", "fib_shed_plus", "gn_shed", "agd")
SONGS = ("agd", "giant", "nesterov", "shed_ls", "shed_ls_rho", "shed_ls_periodic")


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


def at(rows, algorithm=None, **selected):
    """The cells of one algorithm, or of all, at one setting."""
    rows = rows if algorithm is None else rows[rows.algorithm == algorithm]
    for column, value in selected.items():
        if column in rows:
            rows = (
                rows[np.isclose(rows[column].astype(float), value)]
                if column == "mu"
                else rows[rows[column] == value]
            )
    return rows


def ridge(mu: float) -> str:
    return rf"$\mu = 10^{{{np.log10(mu):.0f}}}$"


def newcomers(ax, rows, x, known):
    """A curve for every algorithm, and each of its settings, that the figure does not know: a reader's own."""
    for (name, params), cells in rows[~rows.algorithm.isin(known)].groupby(["algorithm", "params"]):
        curve(ax, cells, x, label=f"{style.label(name)} {params}".strip(), dash=style.DASHES[3])


def fig2(results):
    """Corollary 2 on a spectrum of ours: the factor r(ρ, η, q) and the set S* on which it is least."""
    setting = at(results.traces("shed_news"), **NEWS).setting.iloc[0]
    spectrum = results.reference("shed_news")[setting, 0]["spectrum"]
    low, q = spectrum[-1], 3
    following = spectrum[q]
    rho, eta = np.linspace(0.3 * low, 1.15 * following, 240), np.linspace(0.01, 2.2, 240)
    R, E = np.meshgrid(rho, eta)
    factor = np.maximum(np.abs(1 - E), np.maximum(np.abs(1 - E * following / R), np.abs(1 - E * low / R)))
    figure, ((left, right),) = panels.grid(1, 2)
    best = (spectrum[1:] + low) / 2
    share = np.arange(1, len(spectrum))
    left.plot(share, 1 - low / best, color=style.RED, label=r"$\rho_t^\star$, step 1 (best)")
    left.plot(
        share, 1 - low / spectrum[1:], color=style.BLUE, ls=style.DASHES[1], label=r"$\lambda_{q+1}$, step 1"
    )
    left.set(xlabel="eigenpairs shared, $q$", ylabel="convergence factor", title="(a)")
    left.legend()
    shades = right.contourf(
        R, E, np.minimum(factor, 1.5), levels=np.linspace(0, 1.5, 16), cmap="Greys", alpha=0.4
    )
    figure.colorbar(shades, ax=right, label=r"factor $r(\rho, \eta, q)$")
    inside = np.linspace(low, following, 50)
    right.plot(inside, 2 * inside / (following + low), color=style.BLUE, lw=2.5, label=r"$\mathcal{S}^\star$")
    right.plot((following + low) / 2, 1, "o", color=style.RED, ms=8, label="LSs")
    right.plot(following, 1, "s", color=style.PURPLE, ms=8, label="CVX")
    right.set(xlabel=r"$\rho_t$", ylabel=r"$\eta_t$", title=f"(b) $q$ = {q}", ylim=(0, 2.2))
    right.legend(loc="lower right")
    right.grid(visible=False)
    return figure


def fig3(results):
    """Iterations at which agents renew their Hessian."""
    figure, ((ax,),) = panels.grid()
    names = (
        ("once", r"(a) $\mathcal{I} = \{1\}$", {}),
        ("periodic", "(b) periodic, T = 5", {"period": 5}),
        ("fibonacci", "(c) Fibonacci", {}),
    )
    for height, (name, _, more) in enumerate(reversed(names)):
        due = rule(name, 300, **more)
        renewals = [t for t in range(1, 61) if due(t, [])]
        ax.hlines(height, 1, 60, color=style.GREY, lw=0.8)
        ax.plot(renewals, [height] * len(renewals), "o", color=style.RED, ms=5)
    ax.set_yticks(range(3), [words for _, words, _ in reversed(names)])
    ax.set(xlabel="iteration $t$", ylim=(-0.5, 2.5))
    ax.grid(axis="y", visible=False)
    return figure


def fig4(results):
    """‖θ − θ*‖ by round for ρ* and λ_{q+1}, on songs and on news."""
    figure, (axes,) = panels.grid(1, 2)
    sources = (("shed_msd_iid", "shed_ls_rho", "(a) 1M Songs"), ("shed_news", "shed_ls", "(b) Online News"))
    parameters = (
        ("optimal", r"$\rho_t^\star$", style.RED, "-"),
        ("next", r"$\hat\lambda_{q_t+1}$", style.BLUE, style.DASHES[1]),
    )
    for ax, (experiment, block, title) in zip(axes, sources, strict=True):
        rows = results.traces(experiment)
        for rho, words, colour, dash in parameters:
            cells = at(rows, block, p_rho=rho, **NEWS)
            curve(ax, cells, y="distance", label=words, colour=colour, dash=dash)
        ax.set(yscale="log", xlabel=ROUNDS, title=title, ylim=(1e-10, None))
    axes[0].set_ylabel(r"$\|\theta^t - \theta^\star\|$")
    axes[0].legend()
    return figure


def fig5(results):
    """Cost under periodic renewals beside the slope ā_T² of the bounds (24) and (36)."""
    figure, (axes,) = panels.grid(1, 2)
    sources = (
        ("shed_msd_iid", "shed_ls_periodic", "SHED-LS-periodic", "(a) 1M Songs"),
        ("shed_fmnist_increments", "shed_periodic", "SHED-periodic", "(b) FMNIST"),
    )
    for ax, (experiment, block, words, title) in zip(axes, sources, strict=True):
        cells = at(results.traces(experiment), block)
        period = int(cells.p_period.iloc[0])
        curve(ax, cells, x="round", label=f"{words}, T = {period}", colour=style.RED)
        setting = cells.setting.iloc[0]
        slope = lyapunov(
            results.reference(experiment)[setting, 0]["spectrum"], period, block == "shed_periodic"
        )
        mid = cells.groupby("round").gap.median()
        begin = min(period, len(mid) - 1)
        t = np.arange(begin, len(mid))
        ax.plot(t, mid.iloc[begin] * slope ** (2.0 * (t - begin)), color=style.BLACK, ls=style.DASHES[1],
                label=r"slope of the bound, $\bar a_T^{\,2t}$")  # fmt: skip
        ax.set(
            yscale="log",
            xlabel="iteration $t$",
            title=title,
            ylim=(max(1e-12, mid.min() / 10), 10 * mid.iloc[0]),
        )
        ax.legend()
    axes[0].set_ylabel(COST)
    return figure


def fig6(results):
    """Cost by round and by vectors sent, for several increments."""
    figure, axes = panels.grid(2, 2, sharey="col")
    sources = (("shed_msd_iid", "shed_ls", "1M Songs"), ("shed_fmnist_increments", "fib_shed", "FMNIST"))
    for column, (experiment, block, title) in enumerate(sources):
        rows = at(results.traces(experiment), block)
        for row, (x, words) in enumerate((("exchanges", ROUNDS), ("vectors", VECTORS))):
            ax = axes[row][column]
            for increment, colour in INCREMENTS:
                label = r"$d_t = d_\gamma$" if increment == "channel" else f"$d_t$ = {increment}"
                curve(ax, rows[rows.p_increment == increment], x, label=label, colour=colour)
            ax.set(
                yscale="log", xlabel=words, title=f"({'abcd'[2 * row + column]}) {title}", ylim=(1e-11, None)
            )
    mark_renewals(axes[0][1], at(results.traces("shed_fmnist_increments"), "fib_shed", p_increment="1"))
    for ax in axes[:, 0]:
        ax.set_ylabel(COST)
    axes[0][0].legend()
    return figure


def mark_renewals(ax, cells):
    """The last three renewals of the slowest curve, as in figure 6(b)."""
    one = cells[cells.seed == 0]
    renewed = one[one.hessians.diff() > 0].tail(3)
    ax.plot(renewed.exchanges - 2, one.set_index("round").gap.reindex(renewed["round"] - 1), "o", mfc="none",
            color=style.PURPLE, ms=8, mew=1.6, label="renewal")  # fmt: skip
    ax.legend()


def fig7(results):
    """Least squares on songs: AGD, GIANT and SHED-LS."""
    figure, (axes,) = panels.grid(1, 2, sharey=True)
    for ax, partition in zip(axes, SKEW, strict=True):
        rows = results.traces(f"shed_msd_{partition}")
        curve(ax, best_agd(at(rows, "agd"), upto=300))
        curve(ax, at(rows, "giant"))
        curve(ax, at(rows, "shed_ls", p_increment="1"))
        curve(
            ax,
            at(rows, "shed_ls", p_increment="channel"),
            label="SHED-LS+",
            colour=style.colour("shed_ls_plus"),
        )
        newcomers(ax, rows, "exchanges", SONGS)
        ax.set(
            yscale="log",
            xlabel=ROUNDS,
            title=f"1M Songs, {SKEW[partition]}",
            ylim=(1e-12, None),
            xlim=(0, min(300, rows.exchanges.max())),
        )
    axes[0].set_ylabel(COST)
    axes[0].legend()
    return figure


def best_agd(cells, upto=800):
    """The grid point of AGD that is lowest after so many rounds: its constants are not stated, so it gets its best."""
    shown, cells = cells, cells[cells.exchanges <= upto]
    ends = cells.groupby(["params", "seed"]).tail(1).groupby("params")
    order = ends.agg({"gap": "median", "round": "median"}).sort_values(["gap", "round"])
    return shown[shown.params == order.index[0]]


def comparison(results, experiments, mu, *, x_limit):
    """Two rows (rounds, vectors) by the panels named in `experiments`: (experiment, title, μ)."""
    figure, axes = panels.grid(2, len(experiments), sharex="row", sharey=True)
    longest = [0, 0]
    for column, (experiment, title) in enumerate(experiments):
        rows = results.traces(experiment)
        for row, (x, words) in enumerate((("exchanges", ROUNDS), ("vectors", VECTORS))):
            ax = axes[row][column]
            shown = at(rows, mu=mu[column])
            for name in IMAGES:
                cells = at(shown, name)
                curve(ax, best_agd(cells) if name == "agd" and len(cells) else cells, x)
            newcomers(ax, shown, x, IMAGES)
            letter = "abcd"[2 * row + column]
            longest[row] = max(longest[row], shown[shown.algorithm != "agd"][x].max())
            ax.set(
                yscale="log",
                xlabel=words,
                title=f"({letter}) {title}",
                ylim=(1e-11, 3),
                xlim=(0, min(x_limit[row], longest[row])),
            )
    for ax in axes[:, 0]:
        ax.set_ylabel(COST)
    panels.legend_above(figure, 7)
    return figure


def both(dataset, words):
    return [(f"shed_{dataset}_{partition}", f"{words}, {SKEW[partition]}") for partition in SKEW]


def fig8(results):
    return comparison(results, both("fmnist", "FMNIST"), (1e-5, 1e-5), x_limit=(600, 1000))


def fig9(results):
    return comparison(results, both("fmnist", "FMNIST"), (1e-6, 1e-6), x_limit=(800, 1200))


def fig8_centred(results):
    return comparison(results, both("centred", "FMNIST"), (1e-5, 1e-5), x_limit=(600, 1000))


def fig9_centred(results):
    return comparison(results, both("centred", "FMNIST"), (1e-6, 1e-6), x_limit=(800, 1200))


def fig10(results):
    """μ = 1e-5 against 1e-8, with either PCA."""
    figure, (axes,) = panels.grid(1, 2, sharey=True)
    for ax, reading in zip(axes, readings(results)[:2], strict=True):
        for name in ("fib_shed", "fednl", "giant"):
            for mu, dash in ((1e-5, "-"), (1e-8, style.DASHES[1])):
                cells = reading.cells(name, "skew", mu)
                curve(ax, cells, label=f"{style.label(name)}, {ridge(mu)}", dash=dash)
        ax.set(
            yscale="log",
            xlabel=ROUNDS,
            title=f"FMNIST, non i.i.d., {reading.name}",
            ylim=(1e-11, 3),
            xlim=(0, None),
        )
    axes[0].set_ylabel(COST)
    panels.legend_above(figure, 3)
    return figure


def fig11(results):
    """Hessians an agent computes until convergence."""
    figure, (axes,) = panels.grid(1, 3, sharey=True)
    sources = (("shed_fmnist_skew", "FMNIST"), ("shed_emnist_skew", "EMNIST"), ("shed_w8a_skew", "w8a"))
    for ax, (experiment, title) in zip(axes, sources, strict=True):
        rows = results.traces(experiment)
        places = sorted(rows.mu.astype(float).unique(), reverse=True)
        for offset, name in ((-0.2, "fib_shed"), (0.2, "fednl")):
            for i, mu in enumerate(places):
                cells = at(rows, name, mu=mu)
                found = reach(cells, "hessians")
                shown = np.where(np.isinf(found), spent(cells, "hessians"), found)
                height = float(np.median(shown))
                bar = ax.bar(
                    i + offset,
                    height,
                    0.38,
                    color=style.colour(name),
                    label=style.label(name) if i == 0 else None,
                )
                above = "> " if np.isinf(found).any() else ""
                ax.bar_label(bar, [f"{above}{height:.0f}"], fontsize=8, padding=2)
        ax.set_xticks(range(len(places)), [ridge(mu) for mu in places])
        ax.set(yscale="log", title=title, ylim=(1, 3000))
        ax.grid(axis="x", visible=False)
    axes[0].set_ylabel("local Hessian computations")
    axes[0].legend()
    return figure


def fig12(results):
    return comparison(results, both("emnist", "EMNIST"), (1e-5, 1e-5), x_limit=(600, 1000))


def fig13(results):
    return comparison(results, both("emnist", "EMNIST"), (1e-6, 1e-6), x_limit=(800, 1200))


def fig14(results):
    both_mu = (1e-5, 1e-6)
    return comparison(
        results, [("shed_w8a_skew", f"w8a, {ridge(mu)}") for mu in both_mu], both_mu, x_limit=(800, 1200)
    )
