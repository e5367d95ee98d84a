"""Our figures that settle what Yuan, Zaheer & Reddi 2021 leave open: the setup, the penalties, the usable rates."""

import numpy as np
import pandas as pd

from fedrepro.experiments.registry import figure
from fedrepro.papers.fco import theory
from fedrepro.papers.fco.readings import (
    CRITERIA,
    FIVE,
    NUMERALS,
    RATES,
    SCANNERS,
    SPLITS,
    bound_cells,
    configurations,
    ends,
    last_rounds,
    local_bound,
    over_band,
    scan_ends,
    scans,
    settled,
    share_good,
    tail_means,
    tuned,
    winners,
)
from fedrepro.reporting import panels, style
from fedrepro.reporting.names import called

DOTTED = (0, (1, 1))
REPORTED = {"feddualavg": ("FedDualAvg's", 0.01, 1.0), "fedmid": ("the others'", 0.001, 0.3)}  # section 5.1


def dash_of(name):
    """Baselines are dashed."""
    return style.DASHES[0 if name in FIVE else 1]


@figure()
def lasso_readings(results):
    """F1 over the last rounds for every pair of rates, under four readings of the setup."""
    rows = results.traces("fco_lasso_readings")
    readings = rows[["loss", "means", "setting"]].drop_duplicates()
    figure, axes = panels.grid(1, len(readings), sharey=True)
    means = tail_means(
        rows, ["f1"], last_rounds(rows), ["setting", "algorithm", "p_client_rate", "p_server_rate"]
    ).f1.sort_index()
    marks = {"feddualavg": ("D", -0.1), "fedmid": ("o", 0.1)}  # the others are in the claim
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
            label=f"{called(name)}, larger mark: larger $\\eta_s$",
        )
    panels.legend_above(figure, 2)
    return figure


@figure()
def penalties(results):
    """What the tuned algorithms recover, across the band of penalties."""
    figure, axes = panels.grid(2, 4)
    kinds = (("lasso", "LASSO", "f1", "F1"), ("lowrank", "low rank", "rank", "rank"))
    for line, (kind, title, measure, words) in zip(axes, kinds, strict=True):
        for ax, numeral in zip(line, NUMERALS, strict=True):
            found = sorted(over_band(results, kind, numeral), key=lambda data: data.place)
            across(ax, found, measure)
            ax.set(title=f"{title} ({numeral})", xlabel=r"penalty $\lambda$")
        line[0].set_ylabel(f"{words} over the last rounds")
    panels.legend_above(figure, 6)
    return figure


def across(ax, found, measure):
    """One line an algorithm over the penalties of a dataset; λ is the median over its draws."""
    places = [np.median([ref.constants["lambda"] for ref in data.references.values()]) for data in found]
    for name in FIVE:
        points = []
        for data, place in zip(found, places, strict=True):
            best = tuned(data.rows[data.rows.algorithm == name], "error")
            if len(best):
                points.append((place, ends(best, [measure])[measure].to_numpy()))
        if points:
            panels.points(ax, *zip(*points, strict=True), colour=style.colour(name), label=called(name))
    optimum = [np.median([ref.facts[measure] for ref in data.references.values()]) for data in found]
    ax.plot(places, optimum, color=style.BLACK, ls=DOTTED, lw=1.1, label="centralised optimum")
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xticks(places[:: len(places) - 1], [f"{at:.2g}" for at in places[:: len(places) - 1]])


@figure()
def thresholds(results):
    """Share of the pairs of rates that end sparse and accurate, by what counts as sparse and as accurate."""
    shorts = (0.02, 0.05, 0.1, 1.0)  # the last: whatever the accuracy
    figure, axes = panels.grid(len(SPLITS), len(shorts), sharex=True, sharey=True)
    for line, (words, rows) in zip(axes, scans(results), strict=True):
        last = configurations(rows)
        levels = np.unique(np.concatenate([[0.0, 1.0], last.density]))
        for ax, short in zip(line, shorts, strict=True):
            shares = pd.concat([share_good(last, level, short) for level in levels], axis=1).T
            for name in shares.columns.unique("algorithm").intersection(FIVE, sort=False):
                by_seed = shares[name].to_numpy()
                ax.plot(
                    levels,
                    by_seed.mean(axis=1),
                    color=style.colour(name),
                    label=called(name),
                    drawstyle="steps-post",
                )
                ax.fill_between(levels, by_seed.min(axis=1), by_seed.max(axis=1), color=style.colour(name), alpha=0.12,
                                lw=0, step="post")  # fmt: skip
            ax.axhline(0.5, color=style.BLACK, ls=DOTTED, lw=1.1)
            accurate = (
                f"at most {short:g} less accurate than the best" if short < 1 else "whatever the accuracy"
            )
            ax.set_title(f"held out: {words},\n{accurate}", fontsize=9)
        line[0].set_ylabel("share of the pairs of rates")
    for ax in axes[-1]:
        ax.set(xlabel="density that counts as sparse", xlim=(0, 1), ylim=(-0.02, 1.02))
    panels.legend_above(figure, 5)
    return figure


@figure()
def thresholds_tuned(results):
    """At the tuned rates, the share of the draws or held-out sessions in which a method is at most so dense, and in which it is
    at most so much more accurate than FedDualAvg."""
    figure, axes = panels.grid(len(SPLITS), 2, sharex="col", sharey=True)
    for line, (words, rows) in zip(axes, scans(results), strict=True):
        ended = scan_ends(rows)
        for name in (name for name in SCANNERS if name in ended):
            ahead = ended[name].accuracy - ended["feddualavg"].accuracy
            for ax, values in zip(line, (ended[name].density, ahead), strict=True):
                if values is not ahead or name != "feddualavg":  # against itself there is nothing to see
                    ax.ecdf(values.dropna(), color=style.colour(name), ls=dash_of(name), label=called(name))
        for ax in line:
            ax.set_title(f"held out: {words}", fontsize=9)
        line[0].set_ylabel("share of the draws or sessions")
    axes[-1][0].set(xlabel="at most so dense", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes[-1][1].set_xlabel("at most so much more accurate than FedDualAvg")
    for line in axes:
        line[1].axvline(0.0, color=style.BLACK, ls=DOTTED, lw=1.1)
    panels.legend_above(figure, 4)
    return figure


@figure()
def best_rates(results):
    """The best client and server rate of every method on LASSO (I), by both criteria, with the paper's."""
    rows = next(over_band(results, "lasso", "I", band=False)).rows
    figure, (axes,) = panels.grid(1, len(CRITERIA), sharex=True, sharey=True)
    for ax, (words, (criterion, highest)) in zip(axes, CRITERIA.items(), strict=True):
        for at, (name, marker) in enumerate(zip(FIVE, "os^vD", strict=True)):
            own = rows[rows.algorithm == name]
            for seed, part in own.groupby("seed"):
                for client, server in winners(part, criterion, last_rounds(own), highest).values():
                    aside = 1.0 + 0.12 * (at - 2)  # side by side, and one seed above the other
                    ax.plot(float(client) * aside, float(server) * (1.0 + 0.15 * seed), marker, ms=6, alpha=0.8,
                            color=style.colour(name), label=called(name) if seed == 0 else None)  # fmt: skip
        for name, (whose, client, server) in REPORTED.items():
            ax.plot(client, server, "P", ms=11, mfc="none", mec=style.colour(name), mew=1.4,
                    label=f"{whose} in the paper")  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel=r"client rate $\eta_c$", title=f"tuned for {words}")
        ax.set(xlim=(5e-4, 2), ylim=(5e-3, 20))
    axes[0].set_ylabel(r"server rate $\eta_s$")
    panels.legend_above(figure, 4)
    return figure


@figure()
def theorems(results):
    """Gaps of FedDualAvg and of both FedMiDs, and the bounds with the appendix's constants."""
    figure, axes = panels.grid(2, 4, sharex="row")
    losses, noises = ("logistic", "quadratic"), ("in full", "of batches")
    cases = [(loss, noise) for loss in losses for noise in noises]
    for line, experiment, measure in (
        (axes[0], "fco_small_rates", "server_gap"),
        (axes[1], "fco_local_steps", "gap"),
    ):
        cells = list(bound_cells(results, experiment))
        small = measure == "server_gap"
        share = min((c["share"] for c, _, _ in cells), key=float) if small else "theorem"
        most = max((c["local steps"] for c, _, _ in cells), key=float)
        for ax, (loss, noise) in zip(line, cases, strict=True):
            shown = [cell for cell in cells if cell[0]["share"] == share and cell[0]["local steps"] == most
                     and cell[0]["loss"] == loss and cell[0]["gradients"] == noise]  # fmt: skip
            for name in ("feddualavg", "fedmid", "fedmid_once"):
                own = [(choices, c, rows) for choices, c, rows in shown if choices["algorithm"] == name]
                gaps = np.array([rows[measure].to_numpy() for _, _, rows in own])
                R = own[0][2]["round"].to_numpy(float)
                dash = style.DASHES[1 if name == "fedmid_once" else 0]  # it may lie on FedDualAvg's curve
                ax.plot(R, np.median(gaps, axis=0), color=style.colour(name), ls=dash, label=called(name))
                ax.fill_between(
                    R, gaps.min(axis=0), gaps.max(axis=0), color=style.colour(name), alpha=0.18, lw=0
                )
            bounds = [
                theory.small_rate_bound(c, choices["product"], R)
                if small
                else local_bound(c, loss, choices["rate"], R)
                for choices, c, _ in own
            ]
            ax.plot(
                R,
                np.median(bounds, axis=0),
                color=style.BLACK,
                ls=style.DASHES[1],
                label="the theorem's bound",
            )
            if small:
                twice = [
                    ref.facts["twice"]
                    for (setting, _), ref in results.reference(experiment).items()
                    if loss in setting
                ]
                ax.axhline(
                    np.median(twice),
                    color=style.GREY,
                    ls=DOTTED,
                    lw=1.1,
                    label="the optimum of twice the penalty",
                )
            theorem = "4.1" if small else "4.2" if loss == "logistic" else "4.3"
            ax.set(
                xscale="log",
                yscale="log",
                xlabel="round",
                title=f"Theorem {theorem}: {loss}, gradients {noise}",
            )
        line[0].set_ylabel("gap of the averaged point")
    panels.legend_above(figure, 5)
    return figure


@figure()
def usable_rates(results):
    """Rounds until F1 is perfect (LASSO) or the rank exact (low rank) and stays so, for every pair of rates."""
    figure, axes = panels.grid(2, 4, sharex=True, sharey=True)
    for row, (kind, title, column) in enumerate((("lasso", "LASSO", "f1"), ("lowrank", "low rank", "rank"))):
        for ax, numeral in zip(axes[row], NUMERALS, strict=True):
            data = next(over_band(results, kind, numeral, band=False))
            wanted = 1.0 if column == "f1" else data.references[0].facts["true_rank"]
            pairs(ax, data.rows, column, wanted)
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
        figure, 6, title="lines join one client rate; ring: tuned for the error; open, at the top: never"
    )
    return figure


def pairs(ax, rows, column, wanted):
    """One marker a pair of rates that diverges in no seed: the worst of its seeds."""
    best, top = winners(rows, "error", last_rounds(rows)), 1.25 * rows["round"].max()
    for name, marker in zip(FIVE, "os^vD", strict=True):
        own = (
            rows[rows.algorithm == name].groupby(RATES).filter(lambda pair: (pair.status != "diverged").all())
        )
        if not len(own):
            continue
        found = settled(own, column, lambda values: np.abs(values - wanted) < 1e-12)
        found = found.groupby(RATES).max()
        ax.plot([], [], marker, color=style.colour(name), ms=5, label=called(name))
        for client, line in found.groupby("p_client_rate"):
            line = sorted((float(server), rounds, server) for (_, server), rounds in line.items())
            heights = [min(max(rounds, 1), top) for _, rounds, _ in line]
            ax.plot([x for x, _, _ in line], heights, color=style.colour(name), lw=0.8, alpha=0.6)
            for (x, rounds, server), y in zip(line, heights, strict=True):
                face = style.colour(name) if np.isfinite(rounds) else "none"
                ax.plot(x, y, marker, color=style.colour(name), mfc=face, ms=5, ls="none")
                if best.get(name) == (client, server):
                    ax.plot(x, y, "o", color=style.colour(name), mfc="none", ms=11)
