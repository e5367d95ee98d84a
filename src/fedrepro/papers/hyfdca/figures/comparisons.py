"""HyFDCA against its rivals: figures 3, S1 and 4, the 72 comparisons, and where HyFDCA stops winning."""

from fedrepro.datasets.partition import read_grid
from fedrepro.experiments.registry import figure
from fedrepro.papers.hyfdca.figures.labels import LOSS, charged, title
from fedrepro.papers.hyfdca.readings import (
    CHARGES,
    DATASETS,
    METHODS,
    ONWARD,
    by_iteration,
    by_time,
    clock,
    components,
    encryption_times,
    equal_rounds,
    in_order,
    key_bits,
)  # fmt: skip
from fedrepro.reporting import panels, style
from fedrepro.reporting.names import called


@figure()
def fig3(results):
    """Relative loss and accuracy by outer iteration, 3 datasets x 3 settings x 2 metrics."""
    traces = {}
    for name in DATASETS:
        rows = equal_rounds(results, name)
        traces[name] = rows.assign(x=rows["round"] / rows["round"].max())
    return eighteen(traces, "relative outer iteration", {})


@figure()
def figs1(results):
    """The same against time: computation, latency and encryption, charged as published for every scalar."""
    return against_time(results, "published")


@figure()
def figs1_vector(results):
    """The same, charged as published once for every vector."""
    return against_time(results, "published, one a vector")


def against_time(results, charge):
    """From the first recorded round on: before it there is nothing but the start."""
    times = encryption_times(results)
    traces = {}
    for name in DATASETS:
        rows = clock(results, name, charge, times)
        rows = rows[rows["round"] > 0]
        keys = ["algorithm", "clients", "params", "round"]
        traces[name] = rows.assign(
            x=rows.groupby(keys).time.transform("median")
        )  # clocks differ between seeds
    return eighteen(traces, "time (s)", {"xscale": "log"})


def eighteen(traces, xlabel, scale):
    settings = in_order(next(iter(traces.values())).clients.unique())
    figure, axes = panels.grid(2 * len(traces), len(settings))
    for i, rows in enumerate(traces.values()):
        for j, setting in enumerate(settings):
            every = rows[rows.clients == setting]
            here = every[every.p_tuned_for == "gra"]
            for k, metric in enumerate(("relative_loss", "accuracy")):
                ax = axes[2 * i + k][j]
                for method in METHODS:
                    panels.curve(ax, here[here.algorithm == method], metric, x="x")
                panels.newcomers(ax, every, metric, {*METHODS, *(m + ONWARD for m in METHODS)}, x="x")
                ax.set(ylabel=LOSS if k == 0 else "validation accuracy", xlabel=xlabel, **scale)
                if metric == "relative_loss":
                    ax.set(yscale="log")
                ax.set_title(title(rows, setting), fontsize=9)
    axes[0][0].legend()
    return figure


@figure()
def fig4(results):
    """Seconds per outer iteration by component; encryption as published, one a vector, and as measured here."""
    times = encryption_times(results)
    names, bits = list(DATASETS), key_bits(results)
    figure, (axes,) = panels.grid(1, len(names), sharey=True)
    figure.set_figheight(1.4 * style.HEIGHT)  # the bars' names are long
    parts = {"computation": style.GREY, "latency": style.SKY, "encryption": style.RED}
    for ax, name in zip(axes, names, strict=True):
        ends = results.ends(name)
        setting = in_order(ends.clients.unique())[len(ends.clients.unique()) // 2]
        ends = ends[(ends.clients == setting) & (ends.p_tuned_for == "gra")]
        latency = next(iter(results.reference(name).values())).facts["latency"]
        bars = [("hyfdca", charge) for charge in CHARGES] + [(m, "none") for m in METHODS[1:]]
        for x, (method, charge) in enumerate(bars):
            cells = ends[ends.algorithm == method]
            cost = components(cells, latency, charge, times).div(cells["round"], axis=0).median()
            for offset, (part, colour) in zip((-0.27, 0, 0.27), parts.items(), strict=True):
                if cost[part] > 0:
                    ax.bar(x + offset, cost[part], 0.26, color=colour, label=part if x == 0 else None)
        words = [f"{called(m)}\n{charged(c, bits)}" if m == "hyfdca" else called(m) for m, c in bars]
        ax.set_xticks(range(len(bars)), words, rotation=60, ha="right", fontsize=8)
        ax.set(yscale="log")
        ax.set_title(title(ends, setting), fontsize=9)
    axes[0].set_ylabel("seconds per outer iteration")
    axes[0].legend()
    return figure


@figure()
def table72(results):
    """The 36 comparisons by iteration and the 36 by time, as a table of who wins and by how much."""
    tables = {
        "by outer iteration": by_iteration(results),
        "in HyFDCA's time, encryption as published": by_time(results, "published", "hyfdca"),
        "in the rival's time, CKKS as measured": by_time(results, "ckks, measured", "rival"),
    }
    figure, (axes,) = panels.grid(1, len(tables))
    figure.set_figheight(1.0 + 0.36 * len(next(iter(tables.values()))) / 2)
    for ax, (words, table) in zip(axes, tables.items(), strict=True):
        lines = table.drop_duplicates(["dataset", "clients", "metric"])
        for y, (_, line) in enumerate(lines.iterrows()):
            for x, rival in enumerate(METHODS[1:]):
                cell = table[(table.dataset == line.dataset) & (table.clients == line.clients)
                             & (table.metric == line.metric) & (table.rival == rival)].iloc[0]  # fmt: skip
                colour = style.RED if cell.wins else style.colour(rival)
                ax.barh(y, 0.98, left=x, height=0.94, color=colour, alpha=0.30)
                values = f"{cell.hyfdca:.3g} : {cell.theirs:.3g}  ({cell.seeds_won}/{cell.seeds})"
                ax.text(x + 0.49, y, values, ha="center", va="center", fontsize=8)
        ax.set(xlim=(0, 2), ylim=(len(lines) - 0.5, -0.5))
        ax.set_title(f"{words}: HyFDCA ahead in {int(table.wins.sum())} of {len(table)}", fontsize=9)
        ax.set_xticks([0.49, 1.49], [f"against {called(m)}" for m in METHODS[1:]])
        labels = [f"{one.dataset.partition(',')[0]}\n{one.clients}, {'loss' if one.metric == 'relative_loss' else 'error'}"
                  for one in lines.itertuples()]  # fmt: skip
        ax.set_yticks(range(len(lines)), labels if ax is axes[0] else [""] * len(lines), fontsize=7)
        ax.grid(False)
    return figure


@figure()
def reach(results):
    """Loss and accuracy at the end over the number of clients and the fraction available."""
    ends = results.ends("hyfdca_reach")
    settings = in_order(ends.clients.unique())
    figure, axes = panels.grid(2, 1, sharex=True)
    figure.set_figwidth(9)
    for (ax,), metric in zip(axes, ("relative_loss", "accuracy"), strict=True):
        for method in (*METHODS, *sorted(set(ends.algorithm) - set(METHODS))):
            groups = [ends[(ends.algorithm == method) & (ends.clients == s)][metric] for s in settings]
            panels.points(ax, range(len(settings)), groups, colour=style.colour(method), label=called(method))
        ax.set(ylabel=LOSS if metric == "relative_loss" else "validation accuracy")
    axes[0][0].set(yscale="log")
    axes[0][0].legend()
    names = [f"{read_grid(s)[0] * read_grid(s)[1]} clients\n{s.partition('@')[0]}\n{read_grid(s)[2]:.0%}"
             for s in settings]  # fmt: skip
    axes[1][0].set_xticks(range(len(settings)), names, fontsize=8)
    return figure
