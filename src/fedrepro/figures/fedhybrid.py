"""The figures of Niu & Wei, each drawn against iterations and against floats sent, and ours that settle the rest."""

import numpy as np

from fedrepro.figures import panels, style

GAP = r"$F(x_0^k) - F^\star$"
ERROR = r"$\|x_0^k - x^\star\| / \|x^\star\|$"
LOSS = r"$\log F(x_0^k)$"


def fig3a(results):
    return compared(results, "setup1", "distance", ERROR, newton=[16], log=False)


def compared(results, setup, y, label, newton, log=True):
    """FedAvg, DiSCO and FedHybrid with none, some and all Newton clients."""
    rows = priced(results.traces(f"fedhybrid_{setup}"))
    figure, (axes,) = panels.grid(1, 2, sharey=True)
    for ax, x in zip(axes, ("round", "floats"), strict=True):
        panels.curve(ax, rows[rows.algorithm == "fedavg"], y, x=x)
        for dash, damped, words in (("-", "True", "DiSCO"), (style.DASHES[2], "False", "DiSCO, unit step")):
            panels.curve(
                ax,
                rows[(rows.algorithm == "disco") & (rows.p_damped == damped)],
                y,
                x=x,
                label=words,
                dash=dash,
            )
        panels.curve(ax, rows[rows.algorithm == "fedh_g"], y, x=x)
        mixed = rows[rows.algorithm == "fedh_k"]
        counts = sorted(mixed.p_newton.astype(int).unique())
        for dash, count in zip(style.DASHES, [k for k in newton if k in counts] or counts, strict=False):
            panels.curve(ax, mixed[mixed.p_newton == str(count)], y, x=x, label=f"FedH-{count}", dash=dash)
        panels.curve(ax, rows[rows.algorithm == "fedh_n"], y, x=x)
        if log:
            ax.set(yscale="log")
    axes[0].set(xlabel="iteration $k$", ylabel=label)
    axes[1].set(xlabel="floats sent", xscale="log")
    axes[0].legend()
    return figure


def priced(rows):
    """With the floats that crossed the wire, both ways."""
    return rows.assign(floats=rows.floats_up + rows.floats_down)
