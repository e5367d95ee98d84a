"""Our figures that settle what Yuan, Zaheer & Reddi 2021 leave open: the setup, the penalties, the usable rates."""

import numpy as np

from fedrepro.figures import panels, style
from fedrepro.grids import RATES, last_rounds, pattern, settled, tail_means, winners, won

FOUR = ("fedmid", "fedmid_osp", "feddualavg_osp", "feddualavg")
DOTTED = (0, (1, 1))
NUMERALS = ("I", "II", "III", "IV")


def lasso_readings(results):
    """F1 over the last rounds for every pair of rates, under four readings of the setup."""
    rows = results.traces("fco_lasso_readings")
    readings = rows[["loss", "means", "setting"]].drop_duplicates()
    figure, axes = panels.grid(1, len(readings), sharey=True)
    means = tail_means(
        rows, ["f1"], last_rounds(rows), ["setting", "algorithm", "p_client_rate", "p_server_rate"]
    ).f1.sort_index()
    marks = {"feddualavg": ("D", -0.1), "fedmid": ("o", 0.1)}
    order = sorted(rows.p_client_rate.unique(), key=float)
    for ax, reading in zip(axes[0], readings.itertuples(), strict=True):
        for name, (marker, offset) in marks.items():
            for (client, server), f1 in means[reading.setting, name].items():
                x = order.index(client) + offset
                if np.isnan(f1):
                    ax.plot(x, 0.02, "x", color=style.colour(name), ms=5, mew=1.2)
                else:
                    ax.plot(
                        x,
                        f1,
                        marker,
                        color=style.colour(name),
                        ms=3 + 1.6 * np.log10(float(server) / 0.05),
                        alpha=0.8,
                    )
        loss = "squared loss" if reading.loss == "squared" else "half squared loss"
        ax.set(
            title=f"{loss},\n" + ("clients' own means" if reading.means else "no means"),
            xlabel=r"client rate $\eta_c$",
        )
        ax.set_xticks(range(len(order)), order)
    axes[0][0].set(ylabel="F1 over the last rounds (× diverged)", ylim=(0, 1.04))
    for name, (marker, _) in marks.items():
        axes[0][0].plot(
            [],
            [],
            marker,
            color=style.colour(name),
            label=f"{style.label(name)}, larger mark: larger $\\eta_s$",
        )
    panels.legend_above(figure, 2)
    return figure


def penalties(results):
    """What the tuned algorithms recover, across the window of penalties."""
    figure, ((left, right),) = panels.grid(1, 2)
    for ax, experiment, measure, words in (
        (left, "fco_lasso_window", "f1", "F1, LASSO (I)"),
        (right, "fco_lowrank_window", "rank", "rank, low rank (I)"),
    ):
        rows = results.traces(experiment)
        table = results.reference(experiment)
        for name in FOUR:
            points = []
            for (setting, position), cells in rows[rows.algorithm == name].groupby(["setting", "window"]):
                best = winners(cells, "error", last_rounds(rows))
                if best:
                    value = tail_means(won(cells, best), [measure], last_rounds(rows), ["seed"])[
                        measure
                    ].to_numpy()
                    points.append((position, table[setting, 0]["lambda"], value))
            if points:
                points.sort(key=lambda p: p[0])
                panels.points(
                    ax,
                    [p[1] for p in points],
                    [p[2] for p in points],
                    colour=style.colour(name),
                    label=style.label(name),
                )
        optimum = sorted((ref["lambda"], ref["f1" if measure == "f1" else "rank"]) for ref in table.values())
        ax.plot(
            *zip(*optimum, strict=True), color=style.BLACK, ls=DOTTED, lw=1.1, label="centralised optimum"
        )
        ax.set(xscale="log", xlabel=r"penalty $\lambda$", ylabel=words)
        ax.set_xticks([at for at, _ in optimum], [f"{at:.2g}" for at, _ in optimum])
        ax.minorticks_off()
    panels.legend_above(figure, 5)
    return figure


def usable_rates(results):
    """Rounds until F1 is perfect (LASSO) or the rank exact (low rank) and stays so, for every pair of rates."""
    figure, axes = panels.grid(2, 4, sharex=True, sharey=True)
    for row, (kind, title, column) in enumerate((("lasso", "LASSO", "f1"), ("lowrank", "low rank", "rank"))):
        for which, (ax, numeral) in enumerate(zip(axes[row], NUMERALS, strict=True)):
            experiment, place = (f"fco_{kind}4", 0) if numeral == "IV" else (f"fco_{kind}", which)
            rows, table = pattern(results, experiment, place)
            wanted = 1.0 if column == "f1" else round(np.median([ref["rank"] for ref in table]))
            pairs(ax, rows, column, wanted)
            ax.axhline(
                200 if numeral == "IV" else 100,
                color=style.BLACK,
                ls=DOTTED,
                lw=1.1,
                label="the paper's limit",
            )
            ax.set(title=f"{title} ({numeral})", xscale="log", yscale="log")
        axes[row][0].set_ylabel("rounds to a perfect F1" if column == "f1" else "rounds to the exact rank")
    for ax in axes[1]:
        ax.set_xlabel(r"server rate $\eta_s$")
    panels.legend_above(
        figure, 5, title="lines join one client rate; ring: tuned for the error; open, at the top: never"
    )
    return figure


def pairs(ax, rows, column, wanted):
    """One marker a pair of rates that diverges in no seed: the worst of its seeds."""
    best, top = winners(rows, "error", last_rounds(rows)), 1.25 * rows["round"].max()
    for name, marker in zip(FOUR, "os^D", strict=True):
        own = (
            rows[rows.algorithm == name].groupby(RATES).filter(lambda pair: (pair.status != "diverged").all())
        )
        if not len(own):
            continue
        found = settled(own, column, lambda values: np.abs(values - wanted) < 1e-12)
        found = found.groupby(RATES).max()
        ax.plot([], [], marker, color=style.colour(name), ms=5, label=style.label(name))
        for client, line in found.groupby("p_client_rate"):
            line = sorted((float(server), rounds, server) for (_, server), rounds in line.items())
            heights = [min(max(rounds, 1), top) for _, rounds, _ in line]
            ax.plot([x for x, _, _ in line], heights, color=style.colour(name), lw=0.8, alpha=0.6)
            for (x, rounds, server), y in zip(line, heights, strict=True):
                face = style.colour(name) if np.isfinite(rounds) else "none"
                ax.plot(x, y, marker, color=style.colour(name), mfc=face, ms=5, ls="none")
                if best.get(name) == (client, server):
                    ax.plot(x, y, "o", color=style.colour(name), mfc="none", ms=11)
