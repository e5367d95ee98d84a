"""The figures of Yuan, Zaheer & Reddi 2021, and ours that settle what they leave open."""

import numpy as np
import pandas as pd

from fedrepro.experiments.registry import figure
from fedrepro.papers.fco.figures.choices import DOTTED, dash_of
from fedrepro.papers.fco.readings import (
    FIVE,
    FOUR,
    SCANNERS,
    fmri_rates,
    fmri_winners,
    in_band,
    last_rounds,
    pattern,
    winners,
    won,
)
from fedrepro.reporting import panels, style
from fedrepro.reporting.names import called


@figure()
def fig3(results):
    return recovery(results, "fco_lasso", 0)


@figure()
def fig6(results):
    return recovery(results, "fco_lasso", 1)


@figure()
def fig7(results):
    return recovery(results, "fco_lasso", 2)


@figure()
def fig8(results):
    return recovery(results, "fco_lasso4", 0)


def recovery(results, experiment, which):
    """Precision, recall, F1 and density of the tuned algorithms."""
    rows, table = pattern(results, experiment, which)
    figure, axes = tuned(rows, ("precision", "recall", "f1", "density"))
    for ax in axes[:3]:
        ax.set_ylim(None, 1.02)
    f1 = np.median([ref.facts["recovery"] for ref in table])
    axes[2].axhline(f1, color=style.BLACK, ls=DOTTED, lw=1.1, label="centralised optimum")
    axes[2].set_title("F1")
    panels.legend_above(figure, 3)
    return figure


@figure()
def fig4(results):
    return estimation(results, "fco_lowrank", 0)


@figure()
def fig9(results):
    return estimation(results, "fco_lowrank", 1)


@figure()
def fig10(results):
    return estimation(results, "fco_lowrank", 2)


@figure()
def fig11(results):
    return estimation(results, "fco_lowrank4", 0)


def estimation(results, experiment, which):
    """Training loss, validation error, rank and recovery error of the tuned algorithms."""
    rows, table = pattern(results, experiment, which)
    figure, axes = tuned(rows, ("loss", "validation", "rank", "error"))
    names = (
        "training loss (regularised)",
        "validation mean squared error",
        "rank",
        "recovery error (Frobenius)",
    )
    for ax, name in zip(axes, names, strict=True):
        ax.set_title(name)
    for ax in (axes[0], axes[1], axes[3]):
        ax.set_yscale("log")
    for ax, key in zip(axes, ("value", "validation", "rank", "error"), strict=True):
        level = np.median([ref.facts[key] for ref in table])
        ax.axhline(level, color=style.BLACK, ls=DOTTED, lw=1.1, label="centralised optimum")
    panels.legend_above(figure, 3)
    return figure


def tuned(rows, measures):
    """Four panels of curves, every algorithm at its best rates by the recovery error over the last rounds."""
    best = winners(rows, "error", last_rounds(rows))
    chosen = won(rows, best)
    figure, axes = panels.grid(2, 2)
    for ax, measure in zip(axes.flat, measures, strict=True):
        for name in FIVE:
            cells = chosen[chosen.algorithm == name]
            if len(cells):
                panels.curve(ax, cells, measure, label=f"{called(name)}, {rates(best[name])}")
        panels.newcomers(ax, own(rows, "error"), measure)
        ax.set(xlabel="round", title=measure)
    return figure, list(axes.flat)


def own(rows, criterion, last=None, known=FIVE):
    """A reader's own algorithms, each at its best setting by the figure's criterion."""
    others = rows[~rows.algorithm.isin(known)]
    best = winners(others, criterion, last or last_rounds(rows), rates=["params"])
    return won(others, best, ["params"]) if best else others.iloc[:0]


def rates(point) -> str:
    return rf"$\eta_c$ = {point[0]}, $\eta_s$ = {point[1]}"


@figure()
def fig5(results):
    """fMRI: validation loss, accuracy and density, with the baselines that do not federate."""
    return scans(results, "fco_fmri")


@figure()
def fig5_shape(results):
    """The same on a stand-in of the paper's shape."""
    return scans(results, "fco_fmri_shape")


def scans(results, experiment):
    rows = results.traces(experiment)
    best = fmri_winners(rows)
    figure, (axes,) = panels.grid(1, 3)
    for name in SCANNERS:
        if name not in best:
            continue
        cells = won(rows[rows.algorithm == name], {name: best[name]}, fmri_rates(name))
        words = rates(best[name]) if name not in ("local", "centralised") else rf"$\eta$ = {best[name][0]}"
        for ax, measure in zip(axes, ("loss", "accuracy", "density"), strict=True):
            panels.curve(ax, cells, measure, label=f"{called(name)}, {words}", dash=dash_of(name))
    for ax, measure in zip(axes, ("loss", "accuracy", "density"), strict=True):
        panels.newcomers(ax, own(rows, "loss", last=1, known=SCANNERS), measure)
    names = ("validation loss (regularised)", "validation accuracy", r"density, $|w| \geq 10^{-4}$")
    for ax, name in zip(axes, names, strict=True):
        ax.set(xlabel="round", title=name)
    shown = rows[(rows.status != "diverged") & (rows["round"] == 0)].loss.median()
    axes[0].set_ylim(0, 1.5 * max(shown, 0.7))
    panels.legend_above(figure, 4)
    return figure


@figure()
def fig12(results):
    """Accuracy against density for every pair of rates in the paper's band, at four rounds."""
    rows = results.traces("fco_fmri")
    own = sorted(set(rows.algorithm) - set(SCANNERS))  # a reader's: all there is of it
    rows = pd.concat([in_band(rows[rows.algorithm.isin(FIVE)]), rows[rows.algorithm.isin(own)]])
    top = rows["round"].max()
    figure, (axes,) = panels.grid(1, 4, sharey=True)
    for ax, share in zip(axes, (10, 30, 100, 300), strict=True):
        at = max(1, round(share * top / 300))
        for name, marker in zip((*FIVE, *own), "os^vD" + "P" * len(own), strict=True):
            cells = rows[(rows.algorithm == name) & (rows["round"] == at)]
            ax.plot(cells.density, cells.accuracy, marker, color=style.colour(name), ms=5, alpha=0.65, mec="none",
                    label=called(name))  # fmt: skip
        ax.set(title=f"after {at} rounds", xlabel="density", xlim=(-0.03, 1.03), ylim=(0.35, 1.03))
    axes[0].set_ylabel("validation accuracy")
    panels.legend_above(figure, 4)
    return figure


@figure()
def fig2(results):
    """Non-zero weights of clients that work alone, of their average, and of the average in the dual space."""
    rows = results.traces("fco_averaging")
    figure, ((ax,),) = panels.grid()
    alone = rows[rows.algorithm == "local"]
    for i, (_, cells) in enumerate(alone.groupby("p_client")):
        words = "one client each" if i == 0 else None
        ax.plot(cells["round"], cells.nonzeros, color=style.GREY, lw=0.9, label=words)
    for dual, name, words in (
        ("False", "fedmid", "average of their models"),
        ("True", "feddualavg", "average of their dual states"),
    ):
        cells = rows[rows.p_dual == dual]
        ax.plot(cells["round"], cells.nonzeros, color=style.colour(name), lw=2, label=words)
    ax.set(xlabel="local steps, before any communication", ylabel="non-zero weights", ylim=(0, None))
    ax.legend()
    return figure


@figure()
def fig13(results):
    return constrained(*pattern(results, "fco_femnist", 0))


@figure()
def fig14(results):
    return constrained(*pattern(results, "fco_femnist", 1))


@figure()
def fig15(results):
    return constrained(*pattern(results, "fco_network_long", 0))


@figure()
def fig15_seeds(results):
    return constrained(*pattern(results, "fco_network", 0))


def constrained(rows, table):
    """Training loss, both accuracies, and how full the ball is, at the rates with the lowest training loss."""
    best = winners(rows, "loss", last_rounds(rows))
    chosen = won(rows, best)
    figure, axes = panels.grid(2, 2)
    names = (
        "training loss",
        "training accuracy",
        "test accuracy",
        "norm of the fullest kernel over the radius",
    )
    for ax, measure, name in zip(
        axes.flat, ("loss", "train_accuracy", "test_accuracy", "fill"), names, strict=True
    ):
        for algorithm in FOUR:
            cells = chosen[chosen.algorithm == algorithm]
            if len(cells):
                panels.curve(ax, cells, measure, label=f"{called(algorithm)}, {rates(best[algorithm])}")
        panels.newcomers(ax, own(rows, "loss"), measure)
        ax.set(xlabel="round" if rows["round"].max() == 5000 else "round (the paper runs 5,000)", title=name)
        if measure != "fill":  # the start is far off, and the methods are near each other
            later = chosen[chosen["round"] > 0][measure]
            pad = 0.05 * (later.max() - later.min()) or 0.01
            ax.set_ylim(later.min() - pad, later.max() + pad)
    axes[1][1].axhline(1.0, color=style.BLACK, ls=DOTTED, lw=1.1)
    panels.legend_above(figure, 2)
    return figure


@figure()
def brain(results):
    return weights_on_the_brain(results, "fco_fmri")


@figure()
def brain_shape(results):
    return weights_on_the_brain(results, "fco_fmri_shape")


def weights_on_the_brain(results, experiment):
    """The weights of every algorithm, side by side."""
    from fedrepro.papers.fco import brains  # nilearn takes seconds to load, and only these figures need it

    geometry = results.geometry(experiment, "feddualavg")
    names = (
        "centralised",
        "feddualavg",
        "feddualavg_osp",
        "fedmid",
        "fedmid_once",
        "fedmid_osp",
        "fedavg_subgradient",
        "local",
    )
    names += tuple(sorted(set(results.traces(experiment).algorithm) - set(names)))  # a reader's own
    weights = {name: results.point(experiment, name)[:-1] for name in names}
    figure, axes = panels.grid(2, len(names))
    figure.set_size_inches(2.1 * len(names), 4.8)
    for ax, name in zip(axes[0], names, strict=True):
        share = np.mean(np.abs(weights[name]) >= 1e-4)
        ax.set_title(f"{called(name)}\ndensity {share:.2f}", fontsize=9)
    panels.room_below(figure)
    brains.side_by_side(figure, axes, weights, geometry, cut_by="feddualavg")
    return figure
