"""How the comparisons of Dal Fabbro et al. on songs are measured (section 6.7.1)."""

from fedrepro.experiments.registry import claim
from fedrepro.papers.shed.readings import PARTITIONS, by_increment, fastest, ratios, seeds, select, songs
from fedrepro.reporting.evidence import origin_of, row


@claim("E8")
def E8(results):
    """Rounds of AGD, with the best constants of its grid, over rounds of the slowest Newton-type method."""
    for partition in ("iid", "skew"):
        for choices, cells in songs(results, partition):
            newton = [select(cells, "giant"), *increments_of(cells)]
            for words, name in (("heavy ball", "agd"), ("Nesterov", "nesterov")):
                agd = fastest(select(cells, name))
                for seed in seeds(agd, *newton):
                    found = [
                        max(ratios(agd[agd.seed == seed], other[other.seed == seed]), key=lambda r: r.value)
                        for other in newton
                    ]
                    least = min(found, key=lambda r: r.value)
                    yield row(
                        least.value, seed=seed, censored=least.censored, part="AGD", origin=origin_of(cells),
                        partition=PARTITIONS[partition], acceleration=words, **choices,
                    )  # fmt: skip


@claim("E18")
def E18(results):
    """Rounds of the fastest rival over those of SHED-LS+."""
    for choices, cells in songs(results):
        alone, plus = increments_of(cells)
        rivals = [fastest(select(cells, "agd")), select(cells, "giant"), alone]
        for found in zip(*(ratios(rival, plus) for rival in rivals), strict=True):
            least = min(found, key=lambda r: r.value)
            yield row(
                least.value, seed=least.seed, censored=least.censored, part="SHED-LS+",
                origin=origin_of(cells), **choices,
            )  # fmt: skip


def increments_of(cells):
    """SHED-LS and SHED-LS+."""
    by = by_increment(select(cells, "shed_ls"))
    return [by["one"], by["random"]]
