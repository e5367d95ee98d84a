"""Figures 1 and 2: the messages of a round and who owns what, drawn from the federation's own records."""

import numpy as np
from matplotlib.colors import ListedColormap

from fedrepro.experiments.registry import figure
from fedrepro.papers.hyfdca.figures.labels import title
from fedrepro.reporting import panels, style

SENT = {
    ("send_duals", "down"): r"\alpha_0",
    ("primal_aggregation", "up"): r"\hat{w}_k",
    ("primal_aggregation", "down"): r"w_0",
    ("secure_inner_product", "up"): r"x_{k,i}^T w_k",
    ("secure_inner_product", "down"): r"x_i^T w_0",
    ("collect_duals", "up"): r"\gamma\,\Delta\alpha_k / |B_n|",
}
STEP = {
    "send_duals": "duals sent",
    "primal_aggregation": "PrimalAggregation",
    "secure_inner_product": "SecureInnerProduct",
    "collect_duals": "LocalDualMethod,\nduals collected",
}
WAY = {"sealed": (style.RED, "-"), "clear": (style.BLUE, style.DASHES[1])}


@figure()
def fig1(results):
    """The messages of a round in their order: arrows between the clients and the server, sealed or in the clear."""
    found = {
        setting: ref.facts["messages"] for (setting, _), ref in results.reference("hyfdca_protocol").items()
    }
    rows = results.traces("hyfdca_protocol")
    figure, axes = panels.grid(len(found), 1)
    figure.set_size_inches(1.25 * max(map(len, found.values())) + 1.5, 2.6 * len(found))
    for (ax,), (setting, messages) in zip(
        axes, sorted(found.items(), key=lambda one: -len(one[1])), strict=True
    ):
        for x, (step, way, sealed, clients, floats) in enumerate(messages):
            colour, dash = WAY[sealed]
            begin, end = (0.12, 0.88) if way == "up" else (0.88, 0.12)
            arrow = {"arrowstyle": "-|>", "color": colour, "ls": dash, "lw": 1.6}
            ax.annotate("", (x, end), (x, begin), arrowprops=arrow)
            what = f"${SENT[step, way]}$"
            what = f"enc({what})" if sealed == "sealed" else what
            ax.text(x + 0.06, 0.55, what, color=colour, fontsize=9)
            ax.text(x + 0.06, 0.40, f"{clients} clients,\n{floats} numbers", fontsize=7, va="top")
            if x == 0 or messages[x - 1][0] != step:
                ax.text(x - 0.1, -0.12, STEP[step], fontsize=8, va="top")
        for y, who in ((1.0, "server"), (0.0, "clients")):
            ax.axhline(y, color=style.BLACK, lw=1.2)
            ax.text(
                -0.95, y, who, va="center", fontsize=10, bbox={"fc": "white", "ec": style.BLACK, "pad": 3}
            )
        ax.set(xlim=(-1.0, len(messages)), ylim=(-0.5, 1.2), xticks=[], yticks=[])
        ax.set_title(title(rows, setting.removeprefix("clients=")).partition(": ")[2], fontsize=9)
        ax.spines[:].set_visible(False)
        ax.grid(False)
    return figure


@figure()
def fig2(results):
    """Which client owns which entries: as the partition drew them, and with samples and features put in the order of
    their holders."""
    owners = next(iter(results.reference("hyfdca_protocol").values())).facts["owners"].astype(int)
    rows, columns = np.argsort(owners[:, 0], kind="stable"), np.argsort(owners[0], kind="stable")
    colours = (
        style.SKY,
        style.ORANGE,
        style.GREEN,
        style.PINK,
        style.BLUE,
        style.GREY,
        style.OLIVE,
        style.WINE,
    )
    figure, (axes,) = panels.grid(1, 2)
    ordered = owners[rows][:, columns]
    for ax, entries, words in zip(
        axes, (owners, ordered), ("as drawn", "in the order of their holders"), strict=True
    ):
        ax.imshow(
            entries, cmap=ListedColormap(colours[: owners.max() + 1]), aspect="auto", interpolation="nearest"
        )
        ax.set(xlabel="features", ylabel="samples", xticks=[], yticks=[], title=words)
        ax.grid(False)
    for k in range(owners.max() + 1):
        y, x = (np.mean(where) for where in np.nonzero(ordered == k))
        axes[1].text(
            x,
            y,
            f"client {k + 1}",
            ha="center",
            va="center",
            fontsize=9,
            bbox={"fc": "white", "ec": "none", "pad": 2},
        )
    return figure
