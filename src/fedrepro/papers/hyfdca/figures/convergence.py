"""Whether HyFDCA gets to the optimum, and how: the window of inner iterations, the long runs, the theorems."""

from fedrepro.datasets.partition import read_grid
from fedrepro.experiments.registry import figure
from fedrepro.papers.hyfdca import theory as bounds
from fedrepro.papers.hyfdca.figures.labels import LOSS, title
from fedrepro.papers.hyfdca.readings import LONG, in_order
from fedrepro.reporting import panels, style

LOCAL = {"practical": "Algorithm 5", "theory": "Algorithm 3", "refreshed": "refreshed margins (ours)"}
SPLIT = {"horizontal": style.BLUE, "hybrid": style.RED, "vertical": style.GREEN}


@figure()
def window(results):
    """Relative loss at the end against H: stalling on the left, oscillation on the right."""
    rows = results.traces("hyfdca_window")
    figure, (axes,) = panels.grid(1, 3, sharey=True)
    for ax, (local, words) in zip(axes, LOCAL.items(), strict=True):
        for setting in in_order(rows.clients.unique()):
            blocks = read_grid(setting)[:2]
            split = "horizontal" if blocks[1] == 1 else "vertical" if blocks[0] == 1 else "hybrid"
            cells = rows[(rows.p_local == local) & (rows.clients == setting)]
            inner = sorted(cells.p_inner.unique(), key=int)
            last = cells["round"].max() * 0.9
            groups = [cells[(cells.p_inner == h) & (cells["round"] >= last)] for h in inner]
            panels.points(ax, [int(h) for h in inner], [g.groupby("seed").relative_loss.mean() for g in groups],
                          colour=SPLIT[split], label=f"{split} ({setting.partition('@')[0]})")  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel="inner iterations $H$", title=words)
    axes[0].set_ylabel(f"{LOSS}, mean of the last rounds")
    axes[0].legend()
    return figure


@figure()
def long(results):
    """Relative loss of HyFDCA alone over ten times the rounds."""
    figure, (axes,) = panels.grid(1, len(LONG))
    for ax, name in zip(axes, LONG, strict=True):
        rows = results.traces(name)
        for dash, setting in zip(style.DASHES, in_order(rows.clients.unique()), strict=False):
            cells = rows[rows.clients == setting]
            label = f"{title(cells, setting).partition(': ')[2]}, $H$ = {cells.p_inner.iloc[0]}"
            panels.curve(ax, cells[cells["round"] > 0], "relative_loss", label=label, dash=dash)
        ax.set(xscale="log", yscale="log", xlabel="outer iteration", ylabel=LOSS)
        ax.set_title(title(rows, rows.clients.iloc[0]).partition(":")[0])
        ax.legend()
    return figure


@figure()
def theorems(results):
    """Mean dual gap over seeds against each theorem's bound, as printed and as repaired."""
    cases = bounds.cases(results)
    names = sorted({c.theorem for c in cases}, key=lambda name: (len(name), name))
    lambdas = sorted({c.lam for c in cases})
    colours = [style.BLUE, style.GREEN, style.ORANGE, style.RED, style.WINE]
    figure, axes = panels.grid(-(-len(names) // 2), 2, sharex=True, sharey=True)
    for row in axes:
        row[0].set_ylabel(r"mean $D(\alpha^\star) - D(\alpha^t)$")
    for ax in axes[-1]:
        ax.set_xlabel("outer iteration $t$")
    axes = axes.ravel()
    for ax, name in zip(axes, names, strict=False):
        inner = {c.inner for c in cases if c.theorem == name}
        shown = max(inner) if name.startswith("4.11") else min(inner)  # where the bound is tested hardest
        ax.set_title(f"Theorem {name}, $H$ = {shown}")
        for case in cases:
            if case.theorem == name and case.inner == shown:
                colour = colours[lambdas.index(case.lam) % len(colours)]
                ax.plot(case.t, case.mean, color=colour, label=rf"$\lambda$ = {case.lam:g}")
                ax.plot(case.t, case.printed, color=colour, ls=style.DASHES[2], lw=1.2)
                ax.plot(case.t, case.repaired, color=colour, ls=style.DASHES[1], lw=1.0, alpha=0.7)
        ax.set(xscale="log", yscale="log", ylim=(1e-5, 1e4))
    for ax in axes[len(names) :]:
        ax.set_visible(False)
    axes[0].plot([], [], color=style.BLACK, ls=style.DASHES[2], label="bound as printed")
    axes[0].plot([], [], color=style.BLACK, ls=style.DASHES[1], label="bound as repaired")
    axes[0].legend(fontsize=7.5)
    return figure
