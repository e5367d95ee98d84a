"""A picture of each partition: how many rows every client has, and of which classes."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from fedrepro.datasets import Dataset
from fedrepro.datasets.files import written
from fedrepro.datasets.partition import Partition
from fedrepro.reporting import panels

MANY_CLASSES = 12  # beyond this many different responses the picture shows bins of them
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "fedrepro",  # the same picture has the same bytes
    "svg.fonttype": "none",
}


def class_counts(partition: Partition, y: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """clients x classes, and the names of the classes: labels, or ranges of a response with many values."""
    values = np.unique(y)
    if len(values) <= MANY_CLASSES or (y.dtype.kind in "iu" and len(values) <= 62 and values.max() < 62):
        kinds, names = np.searchsorted(values, y), [f"{v:g}" for v in values]
    else:
        edges = np.unique(np.quantile(y, np.linspace(0, 1, 9)))
        kinds = np.clip(np.searchsorted(edges, y, side="right") - 1, 0, len(edges) - 2)
        names = [f"{a:g}–{b:g}" for a, b in pairwise(edges)]
    return np.array([np.bincount(kinds[rows], minlength=len(names)) for rows in partition.rows]), names


def draw(partition: Partition, dataset: Dataset, title: str, scale: str):
    """Left: the share of each class within each client. Right: the clients' sizes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import MaxNLocator

    counts, names = class_counts(partition, np.asarray(dataset.y))
    sizes = counts.sum(axis=1)
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(8, 4.2), width_ratios=(3, 1), sharey=True, layout="constrained"
        )
        share = counts / sizes[:, None]
        image = left.imshow(
            share, aspect="auto", cmap="cividis", vmin=0, vmax=share.max(), interpolation="nearest"
        )
        step = max(1, -(-len(names) // 16))
        left.set_xticks(range(0, len(names), step), names[::step])
        if max(map(len, names)) > 4:
            left.tick_params(axis="x", rotation=40)
        left.set(xlabel="class" if len(names[0]) <= 4 else "response", ylabel="client")
        left.yaxis.set_major_locator(MaxNLocator(integer=True))
        bar = figure.colorbar(image, ax=left, pad=0.01)
        bar.ax.set_title("share of\nclient", fontsize=8)
        edges = np.arange(len(sizes) + 1) - 0.5  # one outline instead of hundreds of bars
        right.stairs(sizes, edges, orientation="horizontal", fill=True, color="#3b528b")
        right.set(xlabel="rows", ylim=(len(sizes) - 0.5, -0.5))
        right.xaxis.set_major_locator(MaxNLocator(3, integer=True))
        if partition.columns is not None:
            widths = [len(c) for c in partition.columns]
            few, many = f"{min(widths):,}", f"{max(widths):,}"
            blocks = few if few == many else f"{few} to {many}"
            right.set_title(f"each {blocks}\nof {dataset.X.shape[1]:,} columns", fontsize=8)
        mark = "" if scale == "paper" else f", scale {scale}"
        figure.suptitle(f"{title}: {len(partition)} clients of {dataset.title}{mark}", fontsize=10)
        if partition.origin == "standin":
            figure.text(0.005, 0.01, "STAND-IN DATA", color="#B22222", fontsize=9, weight="bold")
    return figure


def save(figure, path: Path) -> None:
    from matplotlib import pyplot as plt

    metadata = {"Date": None} if path.suffix == ".svg" else {}
    with plt.rc_context(STYLE), written(path) as temporary:
        panels.settle(figure)
        figure.savefig(temporary, dpi=130, metadata=metadata)


def close(figure) -> None:
    from matplotlib import pyplot as plt

    plt.close(figure)
