"""How the comparisons of Dal Fabbro et al. on web pages are measured (section 6.7.3 and Appendix B)."""

from fedrepro.experiments.registry import claim
from fedrepro.papers.shed.claims.measured import HESSIANS, compared, with_either_count
from fedrepro.papers.shed.readings import FEDNL_AND_SHED, on_w8a, ratios, readings, select
from fedrepro.reporting.evidence import origin_of, row


@claim("E15")
def E15(results):
    """FedNL over Fib-SHED on w8a, in rounds and vectors, and beside the same on Fashion-MNIST read in the same way."""
    images = {
        (reading.intercept, reading.search): reading for reading in readings(results) if not reading.centre
    }
    for choices, cells in on_w8a(results):
        both = [select(cells, name) for name in FEDNL_AND_SHED]
        yield from compared(*both, part="rounds", **choices)
        yield from with_either_count(*both, part="vectors", **choices)
        reading = next(
            r for r in images.values()
            if {k: r.choices[k] for k in ("intercept", "line_search")}
            == {k: choices[k] for k in ("intercept", "line_search")}
        )  # fmt: skip
        beside = [reading.cells(name, "skew", float(choices["μ"])) for name in FEDNL_AND_SHED]
        here, there = ({r.seed: r for r in ratios(*pair)} for pair in (both, beside))
        for seed in sorted(set(here) & set(there)):
            if not (here[seed].censored and there[seed].censored):
                late = (
                    here[seed].censored
                    or {"at least": "at most", "at most": "at least", "": ""}[there[seed].censored]
                )
                yield row(
                    here[seed].value / there[seed].value, seed=seed, part="closer", censored=late,
                    origin=origin_of(*both, *beside), **choices,
                )  # fmt: skip


@claim("E23")
def E23(results):
    """On w8a, GIANT's rounds over Fib-SHED's, and FedNL's rounds and vectors over those of the worse SHED variant."""
    for choices, cells in on_w8a(results):
        fednl, shed, plus, giant = (select(cells, n) for n in ("fednl", "fib_shed", "fib_shed_plus", "giant"))
        yield from compared(giant, shed, part="GIANT", **choices)
        for part, column, counts in (
            ("rounds", "exchanges", {"-": HESSIANS["every entry"]}), ("vectors", "vectors", HESSIANS),
        ):  # fmt: skip
            for words, counted in counts.items():
                settled = choices | ({"initial_Hessian": words} if column == "vectors" else {})
                others = [v for v in (shed, plus) if len(v)]
                for found in zip(*(ratios(counted(fednl), v, column) for v in others), strict=True):
                    least = min(found, key=lambda r: r.value)
                    yield row(
                        least.value, seed=least.seed, part=part, censored=least.censored,
                        origin=origin_of(cells), **settled,
                    )  # fmt: skip
