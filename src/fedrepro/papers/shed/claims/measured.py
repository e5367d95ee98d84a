"""Rows of evidence from cells: one for every seed."""

from collections.abc import Iterator

import pandas as pd

from fedrepro.papers.shed.readings import common, one_triangle, ratios, seeds
from fedrepro.reporting.evidence import Row, origin_of, row

HESSIANS = {
    "every entry": lambda cells: cells,
    "one triangle": one_triangle,
}  # of FedNL's initial one, that count


def compared(one: pd.DataFrame, other: pd.DataFrame, column="exchanges", *, part, **choices) -> Iterator[Row]:
    """What `one` takes to convergence over what `other` takes."""
    if len(one) and len(other):
        for found in ratios(one, other, column):
            yield row(
                found.value,
                seed=found.seed,
                censored=found.censored,
                origin=origin_of(one, other),
                part=part,
                **choices,
            )


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
