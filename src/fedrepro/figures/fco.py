"""The figures of Yuan, Zaheer & Reddi 2021, and ours that settle what they leave open."""

import numpy as np

from fedrepro.figures import panels, style
from fedrepro.tuning import RATES, last_rounds, winners, won

FOUR = ("fedmid", "fedmid_osp", "feddualavg_osp", "feddualavg")
DOTTED = (0, (1, 1))


def fig3(results):
    return recovery(results, "fco_lasso1")


def fig6(results):
    return recovery(results, "fco_lasso2")


def fig7(results):
    return recovery(results, "fco_lasso3")


def fig8(results):
    return recovery(results, "fco_lasso4")


def recovery(results, experiment):
    """Precision, recall, F1 and density of the tuned algorithms."""
    figure, axes = tuned(results, experiment, ("precision", "recall", "f1", "density"))
    for ax in axes[:3]:
        ax.set_ylim(None, 1.02)
    f1 = np.mean([ref["recovery"] for ref in results.reference(experiment).values()])
    axes[2].axhline(f1, color=style.BLACK, ls=DOTTED, lw=1.1, label="centralised optimum")
    axes[2].set_title("F1")
    legend_below(figure, axes[2])
    return figure


def fig4(results):
    return estimation(results, "fco_lowrank1")


def fig9(results):
    return estimation(results, "fco_lowrank2")


def fig10(results):
    return estimation(results, "fco_lowrank3")


def fig11(results):
    return estimation(results, "fco_lowrank4")


def estimation(results, experiment):
    """Training loss, validation error, rank and recovery error of the tuned algorithms."""
    figure, axes = tuned(results, experiment, ("loss", "validation", "rank", "error"))
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
    table = results.reference(experiment).values()
    for ax, key in zip(axes, ("value", "validation", "rank", "error"), strict=True):
        level = np.mean([ref[key] for ref in table])
        ax.axhline(level, color=style.BLACK, ls=DOTTED, lw=1.1, label="centralised optimum")
    legend_below(figure, axes[2])
    return figure


def tuned(results, experiment, measures):
    """Four panels of curves, every algorithm at its best rates by the recovery error over the last rounds."""
    rows = results.traces(experiment)
    best = winners(rows, "error", last_rounds(rows))
    chosen = won(rows, best)
    figure, axes = panels.grid(2, 2)
    for ax, measure in zip(axes.flat, measures, strict=True):
        for name in FOUR:
            cells = chosen[chosen.algorithm == name]
            if len(cells):
                panels.curve(ax, cells, measure, label=f"{style.label(name)}, {rates(best[name])}")
        ax.set(xlabel="round", title=measure)
    return figure, list(axes.flat)


def rates(point) -> str:
    return rf"$\eta_c$ = {point[0]}, $\eta_s$ = {point[1]}"


def legend_below(figure, ax, columns: int = 3):
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def fig5(results):
    """fMRI: validation loss, accuracy and density, with the baselines that do not federate."""
    return scans(results, "fco_fmri")


def fig5_shape(results):
    """The same on a stand-in of the paper's shape."""
    return scans(results, "fco_fmri_shape")


def scans(results, experiment):
    rows = results.traces(experiment)
    best = fmri_winners(rows)
    figure, (axes,) = panels.grid(1, 3)
    for name in ("local", "fedavg_subgradient", *FOUR, "centralised"):
        if name not in best:
            continue
        cells = won(rows[rows.algorithm == name], {name: best[name]}, fmri_rates(name))
        words = rates(best[name]) if name not in ("local", "centralised") else rf"$\eta$ = {best[name][0]}"
        for ax, measure in zip(axes, ("loss", "accuracy", "density"), strict=True):
            dash = style.DASHES[1] if name in ("local", "fedavg_subgradient", "centralised") else "-"
            panels.curve(ax, cells, measure, label=f"{style.label(name)}, {words}", dash=dash)
    names = ("validation loss (regularised)", "validation accuracy", r"density, $|w| \geq 10^{-4}$")
    for ax, name in zip(axes, names, strict=True):
        ax.set(xlabel="round", title=name)
    shown = rows[(rows.status != "diverged") & (rows["round"] == 0)].loss.median()
    axes[0].set_ylim(0, 1.5 * max(shown, 0.7))
    legend_below(figure, axes[0], columns=4)
    return figure


def fmri_rates(name):
    return {"local": ["p_rate", "p_client"], "centralised": ["p_rate"]}.get(name, RATES)


def fmri_winners(rows) -> dict[str, tuple]:
    """B.4.1: the lowest validation loss at the last round."""
    best = {}
    for name, cells in rows.groupby("algorithm", sort=False):
        best |= winners(cells, "loss", 1, rates=fmri_rates(name))
    return best


def fig12(results):
    """Accuracy against density for every pair of rates in the paper's band, at four rounds."""
    rows = results.traces("fco_fmri")
    rows = in_band(rows[rows.algorithm.isin(FOUR)])
    top = rows["round"].max()
    figure, (axes,) = panels.grid(1, 4, sharey=True)
    for ax, share in zip(axes, (10, 30, 100, 300), strict=True):
        at = max(1, round(share * top / 300))
        for name, marker in zip(FOUR, "os^D", strict=True):
            cells = rows[(rows.algorithm == name) & (rows["round"] == at)]
            ax.plot(cells.density, cells.accuracy, marker, color=style.colour(name), ms=5, alpha=0.65, mec="none",
                    label=style.label(name))  # fmt: skip
        ax.set(title=f"after {at} rounds", xlabel="density", xlim=(-0.03, 1.03), ylim=(0.35, 1.03))
    axes[0].set_ylabel("validation accuracy")
    legend_below(figure, axes[0], columns=4)
    return figure


def in_band(rows):
    """The pairs of rates with a product in [0.003, 0.3], as in B.4.2."""
    product = rows.p_client_rate.astype(float) * rows.p_server_rate.astype(float)
    return rows[(product >= 0.003 * (1 - 1e-9)) & (product <= 0.3 * (1 + 1e-9))]
