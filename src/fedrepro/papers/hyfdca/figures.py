"""The figures of Overman, Blum & Klabjan 2023, and ours that settle what they leave open."""

from fedrepro.datasets.partition import read_grid
from fedrepro.experiments.registry import figure
from fedrepro.papers.hyfdca import theory as bounds
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
    seconds_a_round,
)
from fedrepro.reporting import panels, style
from fedrepro.reporting.names import called

LOSS = r"$(P - P^\star)/P^\star$"
CHARGED = {
    "none": "no encryption",
    "paillier, measured": "Paillier, measured",
    "ckks, measured": "CKKS, measured",
}
LOCAL = {"practical": "Algorithm 5", "theory": "Algorithm 3", "refreshed": "refreshed margins (ours)"}
SPLIT = {"horizontal": style.BLUE, "hybrid": style.RED, "vertical": style.GREEN}


def title(rows, setting: str) -> str:
    """`MNIST: 20 clients (5 x 4), 50% available`; the mark of the figure has a dataset's full name."""
    down, across, fraction = read_grid(setting)
    name = rows.dataset.iloc[0].partition(",")[0]
    return f"{name}: {down * across} clients ({down} x {across}), {fraction:.0%} available"


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
    names = list(DATASETS)
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
        words = [f"{called(m)}\n{CHARGED.get(c, c)}" if m == "hyfdca" else called(m) for m, c in bars]
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
    for ax, (title, table) in zip(axes, tables.items(), strict=True):
        lines = table.drop_duplicates(["dataset", "clients", "metric"])
        for y, (_, line) in enumerate(lines.iterrows()):
            for x, rival in enumerate(METHODS[1:]):
                cell = table[(table.dataset == line.dataset) & (table.clients == line.clients)
                             & (table.metric == line.metric) & (table.rival == rival)].iloc[0]  # fmt: skip
                colour = style.RED if cell.wins else style.colour(rival)
                ax.barh(y, 0.98, left=x, height=0.94, color=colour, alpha=0.30)
                words = f"{cell.hyfdca:.3g} : {cell.theirs:.3g}  ({cell.seeds_won}/{cell.seeds})"
                ax.text(x + 0.49, y, words, ha="center", va="center", fontsize=8)
        ax.set(xlim=(0, 2), ylim=(len(lines) - 0.5, -0.5))
        ax.set_title(f"{title}: HyFDCA ahead in {int(table.wins.sum())} of {len(table)}", fontsize=9)
        ax.set_xticks([0.49, 1.49], [f"against {called(m)}" for m in METHODS[1:]])
        labels = [f"{one.dataset.partition(',')[0]}\n{one.clients}, {'loss' if one.metric == 'relative_loss' else 'error'}"
                  for one in lines.itertuples()]  # fmt: skip
        ax.set_yticks(range(len(lines)), labels if ax is axes[0] else [""] * len(lines), fontsize=7)
        ax.grid(False)
    return figure


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
    names = ("hyfdca_long_covtype", "hyfdca_long_newsgroups")
    figure, (axes,) = panels.grid(1, len(names))
    for ax, name in zip(axes, names, strict=True):
        rows = results.traces(name)
        for dash, setting in zip(style.DASHES, in_order(rows.clients.unique()), strict=False):
            cells = rows[rows.clients == setting]
            label = title(cells, setting).partition(": ")[2]
            panels.curve(ax, cells[cells["round"] > 0], "relative_loss", label=label, dash=dash)
        ax.set(xscale="log", yscale="log", xlabel="outer iteration", ylabel=LOSS)
        ax.set_title(f"{title(rows, rows.clients.iloc[0]).partition(':')[0]}, $H$ = {rows.p_inner.iloc[0]}")
        ax.legend()
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


SEALED = {
    "hyfdca_encrypted": "a small problem",
    "hyfdca_sealed": "",
    "hyfdca_sealed_newsgroups": "",
    "hyfdca_sealed_covtype": "",
    "hyfdca_sealed_paillier": "",
}


@figure()
def encrypted(results):
    """The dual gap of really encrypted runs, of a small problem and of the three datasets, and what a scalar costs."""
    figure, axes = panels.grid(2, 3)
    colours = {"none": style.BLACK, "paillier": style.RED, "ckks": style.BLUE}
    for ax, (name, words) in zip(axes.ravel(), SEALED.items(), strict=False):
        rows = results.traces(name)
        clear = rows[rows.cipher == "none"].set_index(["seed", "round"]).dual_gap
        for dash, (cipher, colour) in zip(style.DASHES, colours.items(), strict=False):
            cells = rows[rows.cipher == cipher]
            if len(cells):
                off = (cells.set_index(["seed", "round"]).dual_gap - clear).abs().max()
                label = f"{cipher}, {seconds_a_round(cells):.2g} s a round here"
                label += "" if cipher == "none" else f", off by {off:.0e}"
                panels.curve(ax, cells, "dual_gap", label=label, colour=colour, dash=dash)
        ax.set(yscale="log", xlabel="outer iteration", ylabel=r"$D(\alpha^\star) - D(\alpha^t)$")
        ax.set_title(words or rows.dataset.iloc[0].partition(",")[0])
        ax.legend(title="cipher")
    right, times = axes.ravel()[-1], encryption_times(results)
    works = {"encrypt": style.RED, "decrypt": style.BLUE, "add": style.GREY, "refresh": style.SKY}
    for x, cost in enumerate(times.values()):
        for offset, (work, colour) in zip((-0.3, -0.1, 0.1, 0.3), works.items(), strict=True):
            if work in cost:
                right.bar(x + offset, 1e3 * cost[work], 0.19, color=colour)
    for work, colour in works.items():
        right.bar(0, 0, color=colour, label=work if work != "refresh" else "re-randomise")
    right.set_xticks(range(len(times)), [name.replace(", ", ",\n") for name in times])
    right.set(yscale="log", ylabel="milliseconds per scalar")
    found = results.reference("hyfdca_encrypted").values()
    bits = max(ref.facts.get("timed bits", 0) for ref in found)
    right.set_title(f"keys of {bits:.0f} bits (Paillier)")
    right.legend()
    return figure


@figure()
def attack(results):
    """What the server reads off the weights: rows by round, words by H, and what adding under encryption costs."""
    figure, ((left, second), (third, right)) = panels.grid(2, 2)
    names = {"hyfdca_attack_newsgroups": left, "hyfdca_attack_mnist": second}
    colours = (style.RED, style.ORANGE, style.GREEN, style.BLUE, style.BLACK)
    for name, ax in names.items():
        rows = results.traces(name)
        horizontal = rows[rows.clients == max(rows.clients.unique(), key=lambda s: read_grid(s)[0])]
        inner = sorted(horizontal.p_inner.unique(), key=int)
        for colour, h in zip(colours, inner, strict=False):
            for dash, pooled in zip(style.DASHES, ("False", "True"), strict=False):
                cells = horizontal[(horizontal.p_inner == h) & (horizontal.p_pooled == pooled)]
                label = f"$H$ = {h}" if pooled == "False" else "_pooled"
                panels.curve(ax, cells, "rows_recovered", label=label, colour=colour, dash=dash)
        ax.set(xlabel="outer iteration", ylabel="share of the rows recovered", ylim=(-0.03, 1.03))
        ax.set_title(title(horizontal, horizontal.clients.iloc[0]), fontsize=9)
        ax.legend()
        ends = results.ends(name)
        dataset = ends.dataset.iloc[0].partition(",")[0]
        for setting in in_order(ends.clients.unique()):
            for dash, pooled in zip(style.DASHES, ("False", "True"), strict=False):
                cells = ends[(ends.clients == setting) & (ends.p_pooled == pooled)]
                found = cells.groupby(cells.p_inner.astype(int)).closest_words.median()
                colour = style.RED if name.endswith("groups") else style.BLUE
                mark = "o" if read_grid(setting)[1] == 1 else "s"
                label = f"{dataset}, {setting.partition('@')[0]}" if pooled == "False" else None
                third.plot(found.index, found, color=colour, marker=mark, ls=dash, label=label)
    third.set(xscale="log", xlabel="inner iterations $H$", ylabel="features named, shared over united")
    third.set_title("a change against the row it is nearest to", fontsize=9)
    third.legend()
    bars, times = [], encryption_times(results)
    for name in names:
        ends = results.ends(name)
        ends = ends[ends.p_inner == min(ends.p_inner.unique(), key=int)]
        for charge in ("ckks, measured", "paillier, measured"):
            for pooled in ("False", "True"):
                cells = ends[(ends.p_pooled == pooled) & (ends.clients == ends.clients.iloc[0])]
                cost = components(cells, 0.0, charge, times).div(cells["round"], axis=0).encryption.median()
                words = "pooled" if pooled == "True" else "as printed"
                bars.append((f"{name.rpartition('_')[2]}, {charge.partition(',')[0]},\n{words}", cost))
    colours = [style.GREY, style.RED] * (len(bars) // 2)
    right.barh(range(len(bars)), [cost for _, cost in bars], color=colours)
    right.set_yticks(range(len(bars)), [words for words, _ in bars], fontsize=7.5)
    right.set(xscale="log", xlabel="seconds of encryption a round")
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
