"""Our figures on what Dal Fabbro et al. leave open, and which verdicts hang on it."""

import numpy as np

from fedrepro.claims.shed import CLAIMS
from fedrepro.claims.shed_readings import readings, spent
from fedrepro.figures import panels, style

SKEW = {"iid": "i.i.d.", "skew": "non i.i.d."}
VERDICTS = {
    True: ("holds", style.BLUE),
    False: ("fails", style.RED),
    None: ("open", style.GREY),
    "": ("", style.GREY),
}


def choices(results):
    """Rounds to convergence under every reading of the unstated choices."""
    figure, (axes,) = panels.grid(1, 2, sharey=True)
    found = readings(results, armijo=True)
    for ax, partition in zip(axes, SKEW, strict=True):
        for name, marker in (("fib_shed", "o"), ("fednl", "s"), ("giant", "D")):
            ax.plot([], [], marker, color=style.colour(name), ms=6, label=style.label(name))
            for height, reading in enumerate(reversed(found)):
                value = reading.rounds(name, partition, 1e-5)
                if np.isnan(value):
                    continue
                beyond = np.isinf(value)
                if beyond:
                    value = reading.cells(name, partition, 1e-5).exchanges.max()
                ax.plot(value, height, ">" if beyond else marker, color=style.colour(name), ms=6,
                        mfc="white" if beyond else None)  # fmt: skip
        ax.set(xlabel="communication rounds to a cost of $10^{-10}$", title=f"FMNIST, {SKEW[partition]}")
        ax.set_xlim(left=0)
    axes[0].set_yticks(range(len(found)), [r.name for r in reversed(found)], fontsize=8)
    panels.legend_above(figure, 3, title="open triangles: not within the budget")
    figure.set_size_inches(figure.get_size_inches() * np.array([1.05, 1.15]))
    return figure


def sensitivity(results):
    """Which claims hold under which reading: those on images and w8a, and those with readings of their own."""
    held = {name: claim(results).held for name, claim in CLAIMS.items()}
    shared = [r.name for r in readings(results, armijo=True)]
    own = list(dict.fromkeys(n for c in ("E1", "E3", "E9") for n in held[c] if n not in shared))
    parts = ((shared, [c for c in CLAIMS if set(held[c]) & set(shared)]), (own, ["E1", "E3", "E9"]))
    figure, (axes,) = panels.grid(1, 2, width_ratios=[len(claims) for _, claims in parts])
    for ax, (names, claims) in zip(axes, parts, strict=True):
        for y, name in enumerate(reversed(names)):
            for x, claim in enumerate(claims):
                words, colour = VERDICTS[held[claim].get(name, "")]
                ax.text(x, y, words, ha="center", va="center", fontsize=8, color=colour)
            if y:
                ax.axhline(y - 0.5, color="#E4E4E4", lw=0.6)
        ax.set_xticks(range(len(claims)), claims)
        ax.set_yticks(range(len(names)), list(reversed(names)), fontsize=8)
        ax.tick_params(length=0, top=False)
        ax.set(xlim=(-0.5, len(claims) - 0.5), ylim=(-0.5, len(names) - 0.5))
        ax.xaxis.tick_top()
        ax.spines[:].set_visible(False)
        ax.grid(visible=False)
    figure.set_size_inches(13.5, 0.9 + 0.24 * max(len(names) for names, _ in parts))
    return figure


def gradient_norm(results):
    """GN-SHED over b, with its inequality as printed and reversed: where it ends, and how often it renews."""
    rows = results.traces("shed_gradient_norm")
    figure, (axes,) = panels.grid(1, 2)
    for reverse, colour in (("False", style.BLACK), ("True", style.TEAL)):
        for centre, dash in ((False, "-"), (True, style.DASHES[1])):
            cells = rows[(rows.p_reverse == reverse) & (rows.centre == centre)]
            found = sorted((float(b), c.gap.min(), spent(c, "hessians")[0]) for b, c in cells.groupby("p_b"))
            label = (
                f"{'reversed' if reverse == 'True' else 'as printed'}, PCA {'' if centre else 'un'}centred"
            )
            for ax, column in zip(axes, (1, 2), strict=True):
                ax.plot(
                    [f[0] for f in found], [f[column] for f in found], "o", color=colour, ls=dash, label=label
                )
    rounds = int(rows.exchanges.max())
    axes[0].set(yscale="log", xlabel="$b$", ylabel=f"relative cost within {rounds} rounds")
    axes[1].set(yscale="log", xlabel="$b$", ylabel="Hessians per agent")
    panels.legend_above(figure, 4, handlelength=4)
    return figure
