"""The figures of Yuan, Zaheer & Reddi 2021, and ours that settle what they leave open."""

from fedrepro.figures import panels, style
from fedrepro.tuning import winners, won

FOUR = ("fedmid", "fedmid_osp", "feddualavg_osp", "feddualavg")


def fig3(results):
    return recovery(results, "fco_lasso1")


def fig6(results):
    return recovery(results, "fco_lasso2")


def fig7(results):
    return recovery(results, "fco_lasso3")


def fig8(results):
    return recovery(results, "fco_lasso4")


def recovery(results, experiment):
    """Precision, recall, F1 and density of the tuned algorithms, as in figure 3."""
    rows = results.traces(experiment)
    best = winners(rows, "error", last_rounds(rows))
    tuned = won(rows, best)
    figure, axes = panels.grid(1, 4)
    for ax, measure in zip(axes[0], ("precision", "recall", "f1", "density"), strict=True):
        tuned_curves(ax, tuned, measure, best)
        ax.set(xlabel="round", title={"f1": "F1"}.get(measure, measure))
        if measure != "density":
            ax.set_ylim(None, 1.02)
    truth = results.reference(experiment)
    for ax, value in zip(axes[0][2:], (optimum_f1(truth), None), strict=True):
        if value is not None:
            ax.axhline(value, color=style.BLACK, ls=(0, (1, 1)), lw=1.1, label="centralised optimum")
    legend_below(figure, axes[0][2])
    return figure


def optimum_f1(table):
    return sum(ref["recovery"] for ref in table.values()) / len(table)


def last_rounds(rows) -> int:
    """The paper's 100 of 500 rounds, in proportion where fewer are run."""
    return max(1, int(rows["round"].max()) // 5)


def tuned_curves(ax, tuned, measure, best):
    for name in FOUR:
        cells = tuned[tuned.algorithm == name]
        if len(cells):
            panels.curve(ax, cells, measure, label=f"{style.label(name)}, {rates(best[name])}")


def rates(point) -> str:
    return rf"$\eta_c$ = {point[0]}, $\eta_s$ = {point[1]}"


def legend_below(figure, ax, columns: int = 5):
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
