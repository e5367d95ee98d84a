"""How the claims of Dal Fabbro et al. on sharing eigenpairs are measured: parameter, renewals, increments."""

import numpy as np

from fedrepro.experiments.registry import claim
from fedrepro.papers.shed.claims.measured import compared
from fedrepro.papers.shed.readings import increments, news, periods, ratios, reach, select, settled, songs
from fedrepro.papers.shed.theory import lyapunov
from fedrepro.reporting.evidence import origin_of, row

NEAR = (1.0, 0.1, 0.01)  # of the first error: how near the optimum a period must begin


def least_squares(results):
    """The choices, and SHED-LS with either parameter, on news and on songs."""
    yield from news(results)
    for choices, cells in songs(results):
        yield choices, select(cells, "shed_ls_rho")


@claim("E1")
def E1(results):
    """Error with the optimal parameter over error with the next eigenvalue, at the worst and at the median round."""
    for choices, cells in least_squares(results):
        for seed, rows in cells.groupby("seed"):
            by = {rho: c.set_index("round").distance for rho, c in rows.groupby("p_rho")}
            found = (by["optimal"] / by["next"])[by["next"] > 1e-9].dropna()[1:]
            if len(found):
                about = {"seed": seed, "origin": origin_of(rows)} | choices
                yield row(found.max(), part="better", rounds="the worst", **about)
                yield row(found.median(), part="better", rounds="the median", **about)
                yield row(found.median(), part="similar", **about)


@claim("E2")
def E2(results):
    """The error's factor per iteration over the worst whole period, over the bound on the Lyapunov exponent. For logistic
    regression the bound is on the limit (Theorem 10-2); it is asked of all periods, and of those near the optimum."""
    found = [("shed_fmnist_increments", "shed_periodic", {"data": "FMNIST", "PCA": "uncentred"})]
    found += [("shed_centred_increments", "shed_periodic", {"data": "FMNIST", "PCA": "centred"})]
    found += [("shed_songs_iid", "shed_ls_periodic", {"data": "a sample of songs"})]
    for experiment, block, choices in found:
        rows = select(results.traces(experiment), block)
        for (setting, seed), cells in rows.groupby(["setting", "seed"]):
            spectrum = results.reference(experiment)[setting, seed].facts["spectrum"]
            bound = lyapunov(spectrum, int(cells.p_period.iloc[0]), convex=block == "shed_periodic")
            for near in NEAR:
                words = choices | settled(cells) | {"periods": f"error within {near:g} of the first"}
                if factors := periods(cells, near):
                    value = max(factors) / bound
                    yield row(value, seed=seed, part="slope", origin=origin_of(cells), **words)


@claim("E3")
def E3(results):
    """Eigenpairs shared, one a round, until the cost has come down to rounding, over n − 1."""
    for choices, cells in least_squares(results):
        experiment = cells.experiment.iloc[0]
        for seed, rows in select(cells, p_rho="optimal").groupby("seed"):
            n = len(results.reference(experiment)[rows.setting.iloc[0], seed].optimum)
            end = float(reach(rows, "round", level=1e-16 * rows.gap.iloc[0])[0])
            last = float(rows["round"].max())
            about = {"censored": "" if np.isfinite(end) else "at least", "origin": origin_of(rows)}
            yield row(min(end, last) / (n - 1), seed=seed, part="rounds", **about, **choices)


@claim("E4")
def E4(results):
    """Rounds and vectors with three eigenpairs a round over those with one."""
    for choices, by in increments(results):
        if {"one", "three"} <= set(by):
            yield from compared(by["three"], by["one"], part="rounds", **choices)
            yield from compared(by["three"], by["one"], "vectors", part="vectors", **choices)


@claim("E5")
def E5(results):
    """Rounds with one eigenpair a round over those with thirty, and what thirty cost a round."""
    for choices, by in increments(results):
        if {"one", "thirty"} <= set(by):
            yield from compared(by["one"], by["thirty"], part="speed", **choices)
            for rounds, vectors in zip(
                ratios(by["thirty"], by["one"]), ratios(by["thirty"], by["one"], "vectors"), strict=True
            ):
                if not rounds.censored:
                    origin = origin_of(by["one"], by["thirty"])
                    yield row(
                        vectors.value / rounds.value, seed=rounds.seed, part="load", origin=origin, **choices
                    )


@claim("E6")
def E6(results):
    """Where the rounds with random increments lie, from those with three eigenpairs to those with six."""
    for choices, by in increments(results):
        if {"three", "six", "random"} <= set(by):
            cells = [by[d] for d in ("three", "random", "six")]
            for seed in sorted(set.intersection(*(set(c.seed) for c in cells))):
                three, random, six = (float(reach(c[c.seed == seed])[0]) for c in cells)
                place = (three - random) / (three - six) if three != six else np.nan
                yield row(place, seed=seed, part="between", origin=origin_of(*cells), **choices)


@claim("E20")
def E20(results):
    """Rounds with six eigenpairs a round over those with three, and vectors over those with one."""
    for choices, by in increments(results):
        if {"one", "three", "six"} <= set(by):
            yield from compared(by["six"], by["three"], part="rounds", **choices)
            yield from compared(by["six"], by["one"], "vectors", part="vectors", **choices)


@claim("E21")
def E21(results):
    """Vectors sent with several increments over those sent with one eigenpair a round."""
    for choices, by in increments(results):
        few = [by[d] for d in ("three", "six", "random") if d in by]
        every = [ratios(cells, by["one"], "vectors") for cells in few]
        for found in zip(*every, strict=True):
            most = max(found, key=lambda r: r.value)
            origin = origin_of(by["one"], *few)
            yield row(
                most.value, seed=most.seed, part="few", censored=most.censored, origin=origin, **choices
            )
        if "thirty" in by:
            yield from compared(by["thirty"], by["one"], "vectors", part="thirty", **choices)
