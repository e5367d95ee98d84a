"""Rows of evidence from cells: one for every seed."""

from collections.abc import Iterator

import pandas as pd

from fedrepro.papers.shed.readings import CONVERGED, common, one_triangle, ratios, seeds
from fedrepro.reporting.evidence import Row, origin_of, row

COMMON = "a cost that both reach"
HESSIANS = {
    "every entry": lambda cells: cells,
    "one triangle": one_triangle,
}  # of FedNL's initial one, that count


def compared(one: pd.DataFrame, other: pd.DataFrame, column="exchanges", *, part, **choices) -> Iterator[Row]:
    """What `one` takes to convergence over what `other` takes. Where a budget ended before that the number is a bound,
    and what both take to the lowest cost that both came down to is a second reading."""
    if not (len(one) and len(other)):
        return
    origin = origin_of(one, other)
    for found in ratios(one, other, column):
        about = {"seed": found.seed, "part": part, "origin": origin} | choices
        to = "convergence" if found.level <= CONVERGED else COMMON
        yield row(found.value, censored=found.censored, to=to, **about)
        if found.censored:
            mine, theirs = (cells[cells.seed == found.seed] for cells in (one, other))
            (there,) = ratios(mine, theirs, column, level=common(mine, theirs))
            yield row(there.value, to=COMMON, **about)


def compared_to_its_end(one: pd.DataFrame, other: pd.DataFrame, *, part, **choices) -> Iterator[Row]:
    """Rounds of `one` over those of `other` to the lowest cost that both of them came down to."""
    for seed in seeds(one, other):
        mine, theirs = one[one.seed == seed], other[other.seed == seed]
        (found,) = ratios(mine, theirs, level=common(mine, theirs))
        yield row(found.value, seed=seed, origin=origin_of(one, other), part=part, **choices)


def with_either_count(fednl, other, *, part, **choices):
    """Vectors sent by FedNL over another's, its initial Hessian counted as n vectors or as (n + 1)/2."""
    for words, counted in HESSIANS.items():
        if len(fednl) and len(other):
            yield from compared(counted(fednl), other, "vectors", part=part, initial_Hessian=words, **choices)
