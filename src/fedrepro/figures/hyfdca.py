"""The figures of Overman, Blum & Klabjan 2023, and ours that settle what they leave open."""

from fedrepro.figures import panels, style
from fedrepro.problems.hyfdca import read_clients

DATASETS = {"hyfdca_mnist": "MNIST", "hyfdca_newsgroups": "news20", "hyfdca_covtype": "covtype"}
METHODS = ("hyfdca", "fedavg_hybrid", "hyfem")
LOSS = r"$(P - P^\star)/P^\star$"


def clients_words(text: str) -> str:
    rows, columns, fraction = read_clients(text)
    return f"{rows * columns} clients ({rows} x {columns}), {fraction:.0%} available"


def order(names) -> list[str]:
    """Settings from easy to hard: by how few of how many clients are there."""
    return sorted(names, key=lambda s: (-read_clients(s)[2], read_clients(s)[0] * read_clients(s)[1]))


def fig3(results):
    """Relative loss and accuracy by outer iteration, 3 datasets x 3 settings x 2 metrics."""
    names = [n for n in DATASETS if (results.folder / "traces" / n).exists()]
    settings = order(results.traces(*names).clients.unique())
    figure, axes = panels.grid(2 * len(names), len(settings), sharex=True)
    for i, name in enumerate(names):
        rows = results.traces(name)
        for j, setting in enumerate(settings):
            for k, metric in enumerate(("relative_loss", "accuracy")):
                ax = axes[2 * i + k][j]
                for method in METHODS:
                    cells = rows[(rows.algorithm == method) & (rows.clients == setting) & (rows.p_tuned_for == "gra")]
                    cells = cells.assign(relative=cells["round"] / cells["round"].max())
                    panels.curve(ax, cells, metric, x="relative")
                if metric == "relative_loss":
                    ax.set(yscale="log")
                ax.set(ylabel=LOSS if k == 0 else "validation accuracy")
                ax.set_title(f"{rows.dataset.iloc[0]}: {clients_words(setting)}", fontsize=9)
    for ax in axes[-1]:
        ax.set(xlabel="relative outer iteration")
    axes[0][0].legend()
    return figure
