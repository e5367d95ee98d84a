"""How the comparisons of Dal Fabbro et al. on Fashion-MNIST are measured (sections 6.7.2 and 6.7.3)."""

import numpy as np

from fedrepro.experiments.registry import claim, evidence
from fedrepro.papers.shed.claims.measured import compared, compared_to_its_end, with_either_count
from fedrepro.papers.shed.readings import (
    CONVERGED,
    FEDNL_AND_SHED,
    LARGE,
    MIDDLE,
    PARTITIONS,
    SMALL,
    fastest,
    gradient_norm,
    needed,
    on_w8a,
    penalty,
    ratios,
    readings,
    seeds,
    select,
)
from fedrepro.reporting.evidence import origin_of, row
from fedrepro.reporting.names import called

FIRST = (3, 5, 10)  # iterations that may be meant by the first ones


@claim("E9")
def E9(results):
    """Rounds of Mont-Dec over those of each SHED variant, to the cost that both come down to. GN-SHED, at the larger
    penalty, with the constant and the direction of its inequality that serve it best."""
    for reading in readings(results):
        for partition in PARTITIONS:
            for mu in (LARGE, MIDDLE):
                mont = reading.cells("mont_dec", partition, mu)
                choices = {
                    "PCA": reading.choices["PCA"], "partition": PARTITIONS[partition], "μ": penalty(mu),
                }  # fmt: skip
                for name in ("fib_shed", "fib_shed_plus"):
                    other = reading.cells(name, partition, mu)
                    yield from compared_to_its_end(mont, other, part=called(name), **choices)
            mont, swept = (
                reading.cells("mont_dec", partition, LARGE),
                gradient_norm(results, partition, reading.centre),
            )
            for seed in seeds(mont, swept):
                own, tried = mont[mont.seed == seed], swept[swept.seed == seed]
                best = fastest(tried, max(CONVERGED, float(own.gap.min())))
                yield from compared_to_its_end(own, best, part="GN-SHED", **choices | {"μ": penalty(LARGE)})


@claim("E22")
def E22(results):
    """Decades between Mont-Dec and Fib-SHED+, which send as much, after the first iterations and when Mont-Dec ends."""
    for reading in readings(results):
        for partition in ("iid", "skew"):
            for mu in (LARGE, MIDDLE):
                mont, shed = (reading.cells(n, partition, mu) for n in ("mont_dec", "fib_shed_plus"))
                for seed in seeds(mont, shed):
                    one, other = (
                        cells[cells.seed == seed].set_index("round").gap.clip(lower=CONVERGED)
                        for cells in (mont, shed)
                    )
                    about = {"seed": seed, "origin": origin_of(mont, shed)}
                    choices = {
                        "PCA": reading.choices["PCA"], "partition": PARTITIONS[partition], "μ": penalty(mu),
                    }  # fmt: skip
                    for first in FIRST:
                        if first <= min(one.index.max(), other.index.max()):
                            apart = abs(np.log10(one[first] / other[first]))
                            yield row(apart, part="first", first_iterations=first, **about, **choices)
                    end = int(one.index.max())
                    behind = np.log10(one[end] / other[min(end, int(other.index.max()))])
                    yield row(behind, part="later", **about, **choices)


@claim("E10")
def E10(results):
    """Hessians and rounds that Fib-SHED takes at the middle penalty; a round is an exchange or an iteration."""
    for reading in readings(results):
        cells = reading.cells("fib_shed", "skew", MIDDLE)
        for seed in seeds(cells):
            one = cells[cells.seed == seed]
            about = {"seed": seed, "origin": origin_of(one)} | reading.choices
            counted, reached = needed(one, "hessians", CONVERGED)
            late = "" if reached else "at least"
            yield row(counted, part="Hessians", censored=late, **about)
            for words, column in (("an exchange", "exchanges"), ("an iteration", "round")):
                value, _ = needed(one, column, CONVERGED)
                yield row(value, part="rounds", censored=late, a_round_is=words, **about)


@claim("E11")
def E11(results):
    """Rounds and vectors of FedNL over Fib-SHED's."""
    for reading in readings(results):
        for partition in ("iid", "skew"):
            for mu in (LARGE, MIDDLE):
                fednl, shed = (reading.cells(name, partition, mu) for name in FEDNL_AND_SHED)
                choices = reading.choices | {"partition": PARTITIONS[partition], "μ": penalty(mu)}
                yield from compared(fednl, shed, part="rounds", **choices)
                yield from with_either_count(fednl, shed, part="vectors", **choices)


@claim("E12")
def E12(results):
    """Hessians that FedNL computes over Fib-SHED's, on every dataset."""
    for reading in readings(results):
        for mu in (LARGE, MIDDLE):
            both = (reading.cells(name, "skew", mu) for name in FEDNL_AND_SHED)
            choices = {"data": "FMNIST", "μ": penalty(mu)} | reading.choices
            yield from compared(*both, "hessians", part="Hessians", **choices)
    for choices, cells in on_w8a(results):
        both = (select(cells, name) for name in FEDNL_AND_SHED)
        yield from compared(*both, "hessians", part="Hessians", data="web pages", **choices)
    for mu, cells in results.traces("shed_emnist_skew").groupby("mu"):
        both = (select(cells, name) for name in FEDNL_AND_SHED)
        yield from compared(*both, "hessians", part="Hessians", data="digits", μ=penalty(mu))


@claim("E13")
def E13(results):
    """Rounds at almost no penalty over rounds at the larger one, for Fib-SHED and FedNL."""
    for reading in readings(results):
        for name in ("fib_shed", "fednl"):
            both = (reading.cells(name, "skew", mu) for mu in (SMALL, LARGE))
            yield from compared(*both, part=called(name), **reading.choices)


@claim("E28")
def E28(results):
    """How many times more a rival slows down than Fib-SHED, from the larger penalty to almost none."""
    for reading in readings(results):
        slower = {}
        for name in ("fib_shed", "fednl", "giant"):
            both = [reading.cells(name, "skew", mu) for mu in (SMALL, LARGE)]
            slower[name] = {r.seed: r for r in ratios(*both)} if all(map(len, both)) else {}
        for name in ("fednl", "giant"):
            for seed in sorted(set(slower[name]) & set(slower["fib_shed"])):
                rival, own = slower[name][seed], slower["fib_shed"][seed]
                late = rival.censored if not own.censored else "at most" if not rival.censored else None
                if late is not None:
                    origin = origin_of(reading.cells("fib_shed", "skew", SMALL))
                    yield row(
                        rival.value / own.value, seed=seed, part=called(name), censored=late, origin=origin,
                        **reading.choices,
                    )  # fmt: skip


@claim("E16")
def E16(results):
    """Rounds of the slowest over rounds of the fastest of GIANT and the SHED variants, and vectors of GIANT over the
    fewest of a variant; GN-SHED with the constant and direction that bring it closest to the others."""
    for reading in readings(results):
        names = ("giant", "fib_shed", "fib_shed_plus")
        known = [reading.cells(name, "iid", LARGE) for name in names]
        swept = gradient_norm(results, "iid", reading.centre)
        for seed in seeds(*known, swept):
            own = [cells[cells.seed == seed] for cells in known]
            tried = [[*own, cells] for _, cells in swept[swept.seed == seed].groupby("params")]
            giant, *variants = min(tried, key=lambda cells: spread(cells)[::-1])
            about = {"seed": seed, "origin": origin_of(*own, swept), "PCA": reading.choices["PCA"]}
            value, late = spread([giant, *variants])
            yield row(value, part="rounds", censored="at least" if late else "", **about)
            sent = max((ratios(giant, cells, "vectors")[0] for cells in variants), key=lambda r: r.value)
            yield row(sent.value, part="vectors", censored=sent.censored, **about)


def spread(cells) -> tuple[float, bool]:
    """Rounds of the slowest over those of the fastest to converge, and whether one had not done so at its end."""
    rounds = [needed(one, "exchanges", CONVERGED) for one in cells]
    fewest = min((value for value, reached in rounds if reached), default=np.nan)
    return max(value for value, _ in rounds) / fewest, not all(reached for _, reached in rounds)


@claim("E17")
def E17(results):
    """Rounds and vectors of GIANT over Fib-SHED's at the middle penalty, i.i.d."""
    for reading in readings(results):
        both = [reading.cells(name, "iid", MIDDLE) for name in ("giant", "fib_shed")]
        yield from compared(*both, part="rounds", PCA=reading.choices["PCA"])
        yield from compared(*both, "vectors", part="vectors", PCA=reading.choices["PCA"])


@claim("E24")
def E24(results):
    """Rounds of GIANT over those with determinantal averaging."""
    for partition in ("iid", "skew"):
        for mu in (LARGE, MIDDLE):
            giant = select(results.traces(f"shed_fmnist_{partition}"), "giant", mu)
            other = select(results.traces(f"shed_determinantal_{partition}"), "determinantal", mu)
            yield from compared(giant, other, part="rounds", partition=PARTITIONS[partition], μ=penalty(mu))


@claim("E25")
def E25(results):
    """Rounds of FedNL with step one over those with the best of the other learning steps."""
    usual = select(results.traces("shed_fmnist_skew"), "fednl", LARGE)
    yield from compared(usual, fastest(results.traces("shed_learning")), part="rounds")


@evidence()
def channel_mean(results):
    gamma = -np.log1p(-(np.arange(100_000) + 0.5) / 100_000)
    d = np.floor(2 * np.log2(1 + 5 * gamma))
    high = 10  # the most that section 6.3 grants
    return f"eq. (38) averages {d.mean():.2f}, with {np.mean(d > high):.3%} of the draws above {high}"
