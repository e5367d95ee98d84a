"""The figures of Dal Fabbro et al."""

import numpy as np

from fedrepro.algorithms.parts.renewals import rule
from fedrepro.experiments.registry import figure
from fedrepro.papers.shed.figures.curves import COST, ROUNDS, VECTORS, curve, ridge
from fedrepro.papers.shed.readings import LARGE, PARTITIONS, SMALL, reach, readings, select, spent
from fedrepro.papers.shed.theory import lyapunov
from fedrepro.reporting import panels, style
from fedrepro.reporting.names import called

INCREMENTS = (
    ("1", style.BLACK),
    ("3", style.BLUE),
    ("6", style.GREEN),
    ("30", style.ORANGE),
    ("channel", style.RED),
)
IMAGES = ("giant", "fednl", "mont_dec", "fib_shed", "fib_shed_plus", "gn_shed", "agd")
SONGS = ("agd", "giant", "nesterov", "shed_ls", "shed_ls_rho", "shed_ls_periodic")


def drawn(rows):
    """Of several settings the one that is drawn: the larger penalty, no intercept, and on songs the fewer agents."""
    rows = select(rows, mu=LARGE, intercept=False)
    return rows[rows.agents == rows.agents.min()] if "agents" in rows else rows


@figure()
def fig2(results):
    """Corollary 2 on a spectrum of ours: the factor r(ρ, η, q) and the set S* on which it is least."""
    setting = drawn(results.traces("shed_news")).setting.iloc[0]
    spectrum = results.reference("shed_news")[setting, 0].facts["spectrum"]
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


@figure()
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


def parameters(ax, rows, title):
    """‖θ − θ*‖ by round for ρ* and λ_{q+1}."""
    for rho, words, colour, dash in (
        ("optimal", r"$\rho_t^\star$", style.RED, "-"),
        ("next", r"$\hat\lambda_{q_t+1}$", style.BLUE, style.DASHES[1]),
    ):
        curve(ax, select(rows, p_rho=rho), y="distance", label=words, colour=colour, dash=dash)
    ax.set(
        yscale="log", xlabel=ROUNDS, title=title, ylim=(1e-10, None), ylabel=r"$\|\theta^t - \theta^\star\|$"
    )
    ax.legend()


@figure()
def fig4(results):
    """The error by round for two choices of the parameter, on songs and on news."""
    figure, (axes,) = panels.grid(1, 2)
    parameters(axes[0], select(drawn(results.traces("shed_songs_iid")), "shed_ls_rho"), "(a) songs")
    parameters(axes[1], select(drawn(results.traces("shed_news")), "shed_ls"), "(b) Online News")
    return figure


def renewed(ax, results, experiment, block, title):
    """Cost under periodic renewals beside the slope ā_T² of the bounds (24) and (36)."""
    cells = select(drawn(results.traces(experiment)), block)
    convex = block == "shed_periodic"
    period, setting = int(cells.p_period.iloc[0]), cells.setting.iloc[0]
    words = "SHED-periodic" if convex else "SHED-LS-periodic"
    curve(ax, cells, x="round", label=f"{words}, T = {period}", colour=style.RED)
    slope = lyapunov(results.reference(experiment)[setting, 0].facts["spectrum"], period, convex)
    mid = cells.groupby("round").gap.median()
    begin = min(period, len(mid) - 1)
    t = np.arange(begin, len(mid))
    line = mid.iloc[begin] * slope ** (2.0 * (t - begin))
    ax.plot(t, line, color=style.BLACK, ls=style.DASHES[1], label=r"slope of the bound, $\bar a_T^{\,2t}$")
    low, high = max(1e-12, mid.min() / 10), 10 * mid.iloc[0]
    end = max(mid.index[mid >= low].max(), t[line >= low].max())
    ax.set(
        yscale="log", xlabel="iteration $t$", ylabel=COST, title=title, ylim=(low, high), xlim=(0, 1.03 * end)
    )
    ax.legend()


@figure()
def fig5(results):
    """Periodic renewals on songs and on Fashion-MNIST."""
    figure, (axes,) = panels.grid(1, 2)
    renewed(axes[0], results, "shed_songs_iid", "shed_ls_periodic", "(a) songs")
    renewed(axes[1], results, "shed_fmnist_increments", "shed_periodic", "(b) FMNIST")
    return figure


def by_increment(ax, rows, x, title):
    """Cost by round or by vectors sent, for several increments."""
    for increment, colour in INCREMENTS:
        label = r"$d_t = d_\gamma$" if increment == "channel" else f"$d_t$ = {increment}"
        curve(ax, rows[rows.p_increment == increment], x, label=label, colour=colour)
    words = ROUNDS if x == "exchanges" else VECTORS
    ax.set(yscale="log", xlabel=words, title=title, ylim=(1e-11, None), ylabel=COST)


@figure()
def fig6(results):
    """Cost by round and by vectors sent, for several increments."""
    figure, axes = panels.grid(2, 2, sharey="col")
    sources = (("shed_songs_iid", "shed_ls", "songs"), ("shed_fmnist_increments", "fib_shed", "FMNIST"))
    for column, (experiment, block, title) in enumerate(sources):
        rows = select(drawn(results.traces(experiment)), block)
        for row, x in enumerate(("exchanges", "vectors")):
            by_increment(axes[row][column], rows, x, f"({'abcd'[2 * row + column]}) {title}")
    mark_renewals(axes[0][1], select(results.traces("shed_fmnist_increments"), "fib_shed", p_increment="1"))
    axes[0][0].legend()
    return figure


def mark_renewals(ax, cells):
    """The last three renewals of the slowest curve, as in figure 6(b)."""
    one = cells[cells.seed == 0]
    renewed = one[one.hessians.diff() > 0].tail(3)
    ax.plot(renewed.exchanges - 2, one.set_index("round").gap.reindex(renewed["round"] - 1), "o", mfc="none",
            color=style.PURPLE, ms=8, mew=1.6, label="renewal")  # fmt: skip
    ax.legend()


def least_squares(ax, rows, title):
    """AGD, GIANT and SHED-LS on songs."""
    plus = select(rows, "shed_ls", p_increment="channel")
    curve(ax, best_agd(select(rows, "agd"), upto=300))
    curve(ax, select(rows, "giant"))
    curve(ax, select(rows, "shed_ls", p_increment="1"))
    curve(ax, plus, label="SHED-LS+", colour=style.colour("shed_ls_plus"))
    panels.newcomers(ax, rows, "gap", SONGS, draw=curve)
    ax.set(
        yscale="log", xlabel=ROUNDS, ylabel=COST, title=title,
        ylim=(1e-12, None), xlim=(0, min(300, rows.exchanges.max())),
    )  # fmt: skip


@figure()
def fig7(results):
    """Least squares on songs: AGD, GIANT and SHED-LS."""
    figure, (axes,) = panels.grid(1, 2, sharey=True)
    for ax, partition in zip(axes, PARTITIONS, strict=True):
        rows = drawn(results.traces(f"shed_songs_{partition}"))
        least_squares(ax, rows, f"songs, {PARTITIONS[partition]}")
    axes[0].legend()
    return figure


@figure()
def songs(results):
    """The panels on songs of figures 4 to 7 with as many songs and agents as in the paper."""
    figure, axes = panels.grid(2, 3)
    rows = results.traces("shed_msd_iid")
    parameters(axes[0][0], select(rows, "shed_ls_rho"), "4(a)")
    renewed(axes[0][1], results, "shed_msd_iid", "shed_ls_periodic", "5(a)")
    for ax, x, title in ((axes[0][2], "exchanges", "6(a)"), (axes[1][2], "vectors", "6(c)")):
        by_increment(ax, select(rows, "shed_ls"), x, title)
    for ax, partition in zip(axes[1], PARTITIONS, strict=False):
        least_squares(ax, results.traces(f"shed_msd_{partition}"), f"7, {PARTITIONS[partition]}")
        ax.legend()
    axes[0][2].legend()
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
            shown = select(rows, mu=mu[column])
            for name in IMAGES:
                cells = select(shown, name)
                chosen = best_agd(cells) if name == "agd" and len(cells) else cells
                curve(ax, chosen, x, label=named(chosen) if name == "gn_shed" else None)
            panels.newcomers(ax, shown, "gap", IMAGES, draw=curve, x=x)
            letter = "abcd"[2 * row + column]
            longest[row] = max(longest[row], shown[shown.algorithm != "agd"][x].max())
            ax.set(
                yscale="log",
                xlabel=words,
                title=f"({letter}) {title}",
                ylim=(1e-10, 3),
                xlim=(0, min(x_limit[row], longest[row])),
            )
    for ax in axes[:, 0]:
        ax.set_ylabel(COST)
    panels.legend_above(figure, 7)
    return figure


def named(cells):
    """GN-SHED with its constant, which the paper does not state."""
    if not len(cells):
        return None
    reverse = "p_reverse" in cells and cells.p_reverse.iloc[0] == "True"
    return f"{called('gn_shed')}, b = {cells.p_b.iloc[0]}, {'reversed' if reverse else 'as printed'}"


def both(dataset, words):
    return [(f"shed_{dataset}_{partition}", f"{words}, {PARTITIONS[partition]}") for partition in PARTITIONS]


@figure()
def fig8(results):
    return comparison(results, both("fmnist", "FMNIST"), (1e-5, 1e-5), x_limit=(600, 1000))


@figure()
def fig9(results):
    return comparison(results, both("fmnist", "FMNIST"), (1e-6, 1e-6), x_limit=(800, 1200))


@figure()
def fig8_centred(results):
    return comparison(results, both("centred", "FMNIST"), (1e-5, 1e-5), x_limit=(600, 1000))


@figure()
def fig9_centred(results):
    return comparison(results, both("centred", "FMNIST"), (1e-6, 1e-6), x_limit=(800, 1200))


@figure()
def fig10(results):
    """μ = 1e-5 against 1e-8, with either PCA."""
    figure, (axes,) = panels.grid(1, 2, sharey=True)
    for ax, reading in zip(axes, readings(results), strict=True):
        for name in ("fib_shed", "fednl", "giant"):
            for mu, dash in ((LARGE, "-"), (SMALL, style.DASHES[1])):
                cells = reading.cells(name, "skew", mu)
                curve(ax, cells, label=f"{called(name)}, {ridge(mu)}", dash=dash)
        ax.set(
            yscale="log",
            xlabel=ROUNDS,
            title=f"FMNIST, non i.i.d., {reading.name}",
            ylim=(1e-10, 3),
            xlim=(0, None),
        )
    axes[0].set_ylabel(COST)
    panels.legend_above(figure, 3)
    return figure


@figure()
def fig11(results):
    """Hessians an agent computes until convergence."""
    figure, (axes,) = panels.grid(1, 3, sharey=True)
    sources = (("shed_fmnist_skew", "FMNIST"), ("shed_emnist_skew", "EMNIST"), ("shed_w8a_skew", "w8a"))
    for ax, (experiment, title) in zip(axes, sources, strict=True):
        rows = results.traces(experiment)
        places = sorted(rows.mu.astype(float).unique(), reverse=True)
        for offset, name in ((-0.2, "fib_shed"), (0.2, "fednl")):
            for i, mu in enumerate(places):
                cells = select(rows, name, mu=mu)
                found = reach(cells, "hessians")
                shown = np.where(np.isinf(found), spent(cells, "hessians"), found)
                height = float(np.median(shown))
                bar = ax.bar(
                    i + offset,
                    height,
                    0.38,
                    color=style.colour(name),
                    label=called(name) if i == 0 else None,
                )
                above = "> " if np.isinf(found).any() else ""
                ax.bar_label(bar, [f"{above}{height:.0f}"], fontsize=8, padding=2)
        ax.set_xticks(range(len(places)), [ridge(mu) for mu in places])
        ax.set(yscale="log", title=title, ylim=(1, 3000))
        ax.grid(axis="x", visible=False)
    axes[0].set_ylabel("local Hessian computations")
    axes[0].legend()
    return figure


@figure()
def fig12(results):
    return comparison(results, both("emnist", "EMNIST"), (1e-5, 1e-5), x_limit=(600, 1000))


@figure()
def fig13(results):
    return comparison(results, both("emnist", "EMNIST"), (1e-6, 1e-6), x_limit=(800, 1200))


@figure()
def fig14(results):
    both_mu = (1e-5, 1e-6)
    return comparison(
        results, [("shed_w8a_skew", f"w8a, {ridge(mu)}") for mu in both_mu], both_mu, x_limit=(800, 1200)
    )
