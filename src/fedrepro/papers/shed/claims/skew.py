"""How the claims of Dal Fabbro et al. on non i.i.d. agents are measured (section 6.7)."""

from fedrepro.experiments.registry import claim
from fedrepro.papers.shed.claims.measured import compared
from fedrepro.papers.shed.readings import LARGE, by_increment, readings, select, songs
from fedrepro.reporting.names import called


def skewed(results, algorithm):
    """The choices, and an algorithm's cells non i.i.d. and i.i.d. at the larger penalty."""
    for reading in readings(results):
        yield (
            {"data": "FMNIST"} | reading.choices,
            *(reading.cells(algorithm, p, LARGE) for p in ("skew", "iid")),
        )


@claim("E7")
def E7(results):
    """Rounds on skewed over rounds on i.i.d. clients, for GIANT and for SHED."""
    for part, algorithm in (("GIANT", "giant"), ("SHED", "fib_shed")):
        for choices, skew, iid in skewed(results, algorithm):
            yield from compared(skew, iid, part=part, **choices)
    for (choices, skew), (_, iid) in zip(songs(results, "skew"), songs(results, "iid"), strict=True):
        yield from compared(select(skew, "giant"), select(iid, "giant"), part="GIANT", **choices)
        alone = (by_increment(select(cells, "shed_ls"))["one"] for cells in (skew, iid))
        yield from compared(*alone, part="SHED", **choices)


@claim("E19")
def E19(results):
    """Rounds on skewed over rounds on i.i.d. clients, for FedNL and the SHED variants."""
    for algorithm in ("fednl", "fib_shed", "fib_shed_plus"):
        for choices, skew, iid in skewed(results, algorithm):
            yield from compared(skew, iid, part=called(algorithm), **choices)


@claim("E14")
def E14(results):
    """GIANT's rounds on skewed over i.i.d. digits."""
    pairs = [
        ("shed_emnist_skew", "shed_emnist_iid"),
        ("shed_emnist_readings_skew", "shed_emnist_readings_iid"),
    ]
    for names in pairs:
        skew, iid = (select(results.traces(name), "giant", LARGE) for name in names)
        varied = [c for c in ("centre", "intercept") if c in skew]
        groups = skew.groupby(varied) if varied else [((False, False), skew)]
        for (centre, intercept), cells in groups:
            if varied and not (centre or intercept):
                continue  # the reading that was drawn
            settled = {"PCA": "centred" if centre else "uncentred", "intercept": "yes" if intercept else "no"}
            other = select(iid, centre=centre, intercept=intercept) if varied else iid
            yield from compared(cells, other, part="GIANT", **settled)
