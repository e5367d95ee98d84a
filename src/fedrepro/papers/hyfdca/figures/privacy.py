"""Encryption really run, what it costs, and what a curious server learns all the same."""

from fedrepro.datasets.partition import read_grid
from fedrepro.experiments.registry import figure
from fedrepro.papers.hyfdca.figures.labels import charged, title
from fedrepro.papers.hyfdca.readings import (
    agreement,
    charged_in_all,
    charged_over_spent,
    components,
    encryption_times,
    in_order,
    key_bits,
    sealed_components,
    seconds_a_round,
)
from fedrepro.reporting import panels, style

SEALED = {
    "hyfdca_encrypted": "a small problem",
    "hyfdca_sealed": "",
    "hyfdca_sealed_newsgroups": "",
    "hyfdca_sealed_covtype": "",
    "hyfdca_sealed_paillier": "",
}


CIPHERS = {"none": style.BLACK, "paillier": style.RED, "ckks": style.BLUE}
WORK = {
    "computation": style.GREY, "encrypt": style.RED, "decrypt": style.BLUE, "add": style.BLACK, "refresh": style.SKY,
}  # fmt: skip
WORDS = {"refresh": "re-randomise"}


@figure()
def encrypted(results):
    """The dual gap of really encrypted runs, of a small problem and of the three datasets, and what a scalar costs."""
    figure, axes = panels.grid(2, 3)
    bits = key_bits(results)
    for ax, (name, words) in zip(axes.ravel(), SEALED.items(), strict=False):
        rows = results.traces(name)
        clear = rows[rows.cipher == "none"].set_index(["seed", "round"]).dual_gap
        for dash, (cipher, colour) in zip(style.DASHES, CIPHERS.items(), strict=False):
            cells = rows[rows.cipher == cipher]
            if len(cells):
                off = (cells.set_index(["seed", "round"]).dual_gap - clear).abs().max()
                keys = f" ({bits:.0f} bits)" if cipher == "paillier" else ""
                label = f"{cipher}{keys}, {seconds_a_round(cells):.2g} s a round"
                label += "" if cipher == "none" else f", off by {off:.0e}"
                panels.curve(ax, cells, "dual_gap", label=label, colour=colour, dash=dash)
        ax.set(yscale="log", xlabel="outer iteration", ylabel=r"$D(\alpha^\star) - D(\alpha^t)$")
        ax.set_title(words or rows.dataset.iloc[0].partition(",")[0])
        ax.legend(title="cipher")
    right, times = axes.ravel()[-1], encryption_times(results)
    works = [work for work in WORK if work != "computation"]
    for x, cost in enumerate(times.values()):
        for offset, work in zip((-0.3, -0.1, 0.1, 0.3), works, strict=True):
            if work in cost:
                right.bar(x + offset, 1e3 * cost[work], 0.19, color=WORK[work])
    for work in works:
        right.bar(0, 0, color=WORK[work], label=WORDS.get(work, work))
    right.set_xticks(range(len(times)), [name.replace(", ", ",\n") for name in times])
    right.set(yscale="log", ylabel="milliseconds per scalar")
    right.set_title(f"Paillier with keys of {bits:.0f} bits")
    right.legend()
    return figure


@figure()
def sealed(results):
    """CPU seconds of a really encrypted round by component, and whether the two clocks agree."""
    bars, times = [], encryption_times(results)
    for name, words in SEALED.items():
        rows = results.traces(name)
        found = sealed_components(rows)
        for cipher in [c for c in found if c != "none"]:
            data = words or rows.dataset.iloc[0].partition(",")[0]
            keys = f" {key_bits(results):.0f} bits" if cipher == "paillier" else ""
            both = agreement(found, cipher), charged_over_spent(rows, cipher, times)
            bars.append((f"{data}\n{cipher}{keys}", found[cipher], both))
    figure, ((ax,),) = panels.grid(1, 1)
    figure.set_figwidth(2.0 * len(bars))
    for x, (_, parts, agree) in enumerate(bars):
        for offset, (work, colour) in zip((-0.32, -0.16, 0, 0.16, 0.32), WORK.items(), strict=True):
            label = WORDS.get(work, work) if x == 0 else None
            ax.bar(x + offset, max(parts[work], 0.0), 0.15, color=colour, label=label)
        words = "solver's clock {:.2f},\ncharged {:.2f}".format(*agree)
        ax.annotate(words, (x, 1.0), xycoords=("data", "axes fraction"), ha="center", fontsize=7.5)
    ax.set_xticks(range(len(bars)), [words for words, _, _ in bars], fontsize=8)
    ax.set(yscale="log", ylabel="CPU seconds a round, all together")
    panels.legend_above(figure, len(WORK))
    return figure


SWEPT = {
    "hyfdca_cost_samples": ("n", "samples $N$"),
    "hyfdca_cost_features": ("m", "features $M$"),
    "hyfdca_cost_clients": ("clients", "clients"),
}


@figure()
def cost(results):
    """CPU seconds of a round, all clients and the server together, over samples, features, clients and ciphers."""
    figure, (axes,) = panels.grid(1, len(SWEPT), sharey=True)
    times, bits = encryption_times(results), key_bits(results)
    for ax, (name, (column, words)) in zip(axes, SWEPT.items(), strict=True):
        rows = results.traces(name)
        rows = rows.assign(x=rows[column].map(clients_in if column == "clients" else float))
        ends = results.ends(name)
        ends = ends[ends.cipher == "none"].assign(
            x=ends[column].map(clients_in if column == "clients" else float)
        )
        for cipher in ("none", "ckks"):
            cells = rows[rows.cipher == cipher].groupby("x")
            found = {x: seconds_a_round(own) for x, own in cells}
            label = "in the clear" if cipher == "none" else "CKKS, measured"
            ax.plot(*zip(*sorted(found.items()), strict=True), color=CIPHERS[cipher], marker="o", label=label)
        for dash, (charge, cost) in zip(style.DASHES[1:], times.items(), strict=False):
            if not charge.startswith("ckks"):
                one = charged_in_all(ends, cost) / ends["round"]
                found = sorted(zip(ends.x, one, strict=True))
                label = (
                    "Paillier, as published"
                    if charge == "published"
                    else f"Paillier, {bits:.0f} bits, timed a scalar"
                )
                ax.plot(
                    *zip(*found, strict=True),
                    color=CIPHERS["paillier"],
                    ls=dash,
                    marker="s",
                    ms=4,
                    label=label,
                )
        ax.set(xscale="log", yscale="log", xlabel=words)
    axes[0].set_ylabel("CPU seconds a round, all together")
    panels.legend_above(figure, 4)
    return figure


def clients_in(setting: str) -> int:
    rows, columns, _ = read_grid(setting)
    return rows * columns


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
    third.set_title("a change against the row it is nearest to; dashed: pooled", fontsize=9)
    third.set_ylim(top=1.25)  # of it the upper part is the legend's
    third.legend(ncols=2, fontsize=8, loc="upper right")
    bars, times = [], encryption_times(results)
    for name in names:
        ends = results.ends(name)
        ends = ends[ends.p_inner == min(ends.p_inner.unique(), key=int)]
        for charge in ("ckks, measured", "paillier, measured"):
            for pooled in ("False", "True"):
                cells = ends[(ends.p_pooled == pooled) & (ends.clients == ends.clients.iloc[0])]
                cost = components(cells, 0.0, charge, times).div(cells["round"], axis=0).encryption.median()
                words = "pooled" if pooled == "True" else "as printed"
                cipher = charged(charge, key_bits(results)).replace(", measured", "")
                bars.append((f"{name.rpartition('_')[2]}, {words},\n{cipher}", cost))
    colours = [style.GREY, style.RED] * (len(bars) // 2)
    right.barh(range(len(bars)), [cost for _, cost in bars], color=colours)
    right.set_yticks(range(len(bars)), [words for words, _ in bars], fontsize=7)
    right.set(xscale="log", xlabel="seconds of encryption a round")
    return figure
