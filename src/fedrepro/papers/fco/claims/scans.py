"""Brain scans (section 5.3, Appendix B.4): accuracy and density at the tuned rates, and over all pairs of rates.

Two ways to hold sessions out are read: a fixed set, and one after the other, whose spread is over sessions. What is
sparse, and what accurate, is swept.
"""

from fedrepro.experiments.registry import claim
from fedrepro.papers.fco.readings import FIVE, FOUR, MIRROR, configurations, scan_ends, scans, share_good
from fedrepro.reporting.evidence import origin_of, row
from fedrepro.reporting.names import called

SPARSE = (0.1, 0.25, 0.5)  # densities that may count as sparse
SHORT = (0.02, 0.05, 0.1)  # accuracies that may count as near the best
MIDS = (*MIRROR, "fedmid_osp")


def differences(results, part, column, minuends, subtrahends):
    """Difference of a measure at the last round between algorithms, seed by seed."""
    yield from against(results, part, column, minuends, subtrahends, lambda a, b: a - b)


def ratios(results, part, column, numerators, denominators):
    yield from against(results, part, column, numerators, denominators, lambda a, b: a / max(b, 1e-9))


def against(results, part, column, firsts, seconds, value):
    several = len(firsts) * len(seconds) > 1
    for split, rows in scans(results):
        ended = scan_ends(rows)
        for a in firsts:
            for b in seconds:
                if a in ended and b in ended:
                    about = {"held out": split} | (
                        {"method": called(a if len(firsts) > 1 else b)} if several else {}
                    )
                    for seed, x in ended[a][column].items():
                        y = ended[b][column].get(seed, float("nan"))
                        yield row(
                            value(x, y), seed=seed, origin=origin_of(ended[a], ended[b]), part=part, **about
                        )


def level(results, part, column, name):
    """A measure of one algorithm at the last round."""
    for split, rows in scans(results):
        cells = scan_ends(rows).get(name)
        for seed, value in () if cells is None else cells[column].items():
            yield row(value, seed=seed, origin=origin_of(cells), part=part, held_out=split)


@claim("C8")
def C8(results):
    """FedDualAvg's density on brain scans, and its accuracy less that of the centralised solution."""
    yield from level(results, "sparse", "density", "feddualavg")
    yield from differences(results, "accurate", "accuracy", ["feddualavg"], ["centralised"])


@claim("C9")
def C9(results):
    """Density of FedMiD and FedMiD-OSP over FedDualAvg's, and FedDualAvg's accuracy less theirs."""
    yield from ratios(results, "denser", "density", MIDS, ["feddualavg"])
    yield from differences(results, "less accurate", "accuracy", ["feddualavg"], MIDS)


@claim("C10")
def C10(results):
    """Loss of the local model and of FedAvg with subgradients over FedDualAvg's, and FedDualAvg's accuracy less theirs."""
    others = ("local", "fedavg_subgradient")
    yield from ratios(results, "loss", "loss", others, ["feddualavg"])
    yield from differences(results, "accuracy", "accuracy", ["feddualavg"], others)


@claim("C11")
def C11(results):
    """Share of FedDualAvg's pairs of rates that end sparse and accurate."""
    for about, share, rows in shares(results):
        for seed, value in share["feddualavg"].items():
            yield row(value, seed=seed, origin=origin_of(rows), **about)


def shares(results):
    """(choices, shares of the pairs that end sparse and accurate by algorithm and seed, rows)."""
    for split, rows in scans(results):
        last = configurations(rows)
        for sparse in SPARSE:
            for short in SHORT:
                choices = {"held out": split, "sparse": f"{sparse:g}", "short of the best": f"{short:g}"}
                yield choices, share_good(last, sparse, short), last


@claim("C20")
def C20(results):
    """FedDualAvg-OSP's density on brain scans, and FedDualAvg's accuracy less its."""
    yield from level(results, "sparse", "density", "feddualavg_osp")
    yield from differences(results, "less accurate", "accuracy", ["feddualavg"], ["feddualavg_osp"])


@claim("C21")
def C21(results):
    """Over all pairs of rates: the share of FedDualAvg-OSP's that end sparse, how much less accurate their median is than
    FedDualAvg's, and the share of FedMiD's and FedMiD-OSP's that end dense."""
    for split, rows in scans(results):
        last = configurations(rows)
        for seed, pairs in last.groupby("seed"):
            own = {name: pairs[pairs.algorithm == name] for name in FIVE}
            for bar in SPARSE:
                about = {"seed": seed, "origin": origin_of(pairs), "held out": split, "bar": f"{bar:g}"}
                yield row((own["feddualavg_osp"].density <= bar).mean(), part="left", **about)
                for name in MIDS:
                    if len(own[name]):
                        yield row(
                            (own[name].density > bar).mean(), part="right", method=called(name), **about
                        )
            lower = own["feddualavg"].accuracy.median() - own["feddualavg_osp"].accuracy.median()
            yield row(lower, part="middle", seed=seed, origin=origin_of(pairs), held_out=split)


@claim("C22")
def C22(results):
    """The share of FedDualAvg's pairs of rates that end sparse and accurate, less the largest share of any other method."""
    for about, share, rows in shares(results):
        for mirror, words in MIRROR.items():
            others = [name for name in FOUR if name not in ("feddualavg", "fedmid")] + [mirror]
            table = share.unstack("seed")
            rivals = table.loc[[name for name in others if name in table.index]].max()
            for seed, value in table.loc["feddualavg"].items():
                lead = value - rivals[seed]
                yield row(lead, seed=seed, origin=origin_of(rows), FedMiD=words, **about)
