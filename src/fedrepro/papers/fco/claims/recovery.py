"""LASSO and low rank (sections 5.1, 5.2, Appendices B.2, B.3): what the tuned methods recover, how soon, at which rates.

Curves are judged by means over the last rounds. Section 5.1 tunes for F1, B.2.1 for the recovery error: LASSO is read
under both. FedMiD is read as printed and regularised once. Penalties are read over the band (`penalty`: the place in it).
"""

import numpy as np

from fedrepro.experiments.registry import claim, evidence
from fedrepro.papers.fco.readings import (
    CRITERIA,
    MIRROR,
    RATES,
    by_seed,
    ends,
    last_rounds,
    mirrors,
    over_band,
    soonest,
    tuned,
    wait,
    winners,
)
from fedrepro.reporting.evidence import origin_of, row
from fedrepro.reporting.names import called

LEVELS = (0.5, 0.75, 0.9)  # shares of the way from the start to a perfect F1
FALLS = (0.5, 0.25, 0.1)  # shares of the starting error


def waited(rounds: dict, rows, **about):
    """A row for every seed: the rounds until something holds, at least all that were run where it never did."""
    top = float(rows["round"].max())
    for seed, value in rounds.items():
        never = np.isinf(value)
        yield row(
            top if never else value,
            seed=seed,
            origin=origin_of(rows),
            censored="at least" if never else "",
            **about,
        )


def times(slow: dict, quick: dict, rows, **about):
    """Rounds over rounds by seed; what never came took at least all rounds, and where neither came nothing is known."""
    top = float(rows["round"].max())
    for seed in sorted(set(slow) & set(quick)):
        a, b = slow[seed], quick[seed]
        never = ("at least" if np.isinf(a) else "") if np.isfinite(b) else "at most"
        value = np.nan if np.isinf(a) and np.isinf(b) else min(a, top) / max(min(b, top), 1.0)
        yield row(value, seed=seed, origin=origin_of(rows), censored=never, **about)


def compared(results, numeral, columns):
    """(choices, rows at the tuned rates, means over the last rounds) of a LASSO under every reading."""
    for data in over_band(results, "lasso", numeral):
        for mirror, rows in mirrors(data.rows):
            for name, (criterion, highest) in CRITERIA.items():
                best = tuned(rows, criterion, highest)
                choices = {"penalty": data.penalty, "FedMiD": mirror, "tuned for": name}
                yield choices, best, ends(best, columns)


@claim("C1")
def C1(results):
    """FedDualAvg's F1 on LASSO (I) less the best of the others', and FedMiD's density less the densest of the others'."""
    for choices, best, means in compared(results, "I", ["f1", "density"]):
        for part, name, column in (("f1", "feddualavg", "f1"), ("density", "fedmid", "density")):
            for seed, found in by_seed(means[column]):
                if name in found and len(found) > 1:
                    lead = found[name] - found.drop(name).max()
                    yield row(lead, seed=seed, origin=origin_of(best), part=part, **choices)


def perfect(f1):
    return f1 >= 1 - 1e-12


def perfect_rounds(results, numeral):
    """Rounds until FedDualAvg's F1 is perfect and stays so for ten records, at tuned rates and at the quickest. Pairs of rates
    may tie in F1: then both ends of the tie are read."""
    for data in over_band(results, "lasso", numeral):
        own = data.rows[data.rows.algorithm == "feddualavg"]
        readings = {"the quickest": soonest(own, "f1", perfect)}
        for name, (criterion, highest) in CRITERIA.items():
            first, last = (tuned(own, criterion, highest, late=late) for late in (False, True))
            readings[f"tuned for {name}"] = wait(first, "f1", perfect)
            if first.params.unique().tolist() != last.params.unique().tolist():
                readings[f"tuned for {name}, the largest of those that tie"] = wait(last, "f1", perfect)
        for rates, found in readings.items():
            yield from waited(found, own, part=numeral, rates=rates, penalty=data.penalty)


@claim("C2")
def C2(results):
    """Rounds until FedDualAvg's F1 is perfect on LASSO (II) and (III), at tuned rates and at the quickest."""
    yield from perfect_rounds(results, "II")
    yield from perfect_rounds(results, "III")


@claim("C3")
def C3(results):
    """Rounds until FedDualAvg's F1 is perfect on LASSO (IV); how far FedMiD and FedMiD-OSP get, from the start's F1 to 1."""
    yield from perfect_rounds(results, "IV")
    for choices, best, means in compared(results, "IV", ["f1"]):
        start = best[best["round"] == 0].groupby("seed").f1.mean()
        for seed, found in by_seed(means.f1):
            for name in ("fedmid", "fedmid_osp"):
                if name in found:
                    way = (found[name] - start[seed]) / (1.0 - start[seed])
                    yield row(
                        way,
                        seed=seed,
                        origin=origin_of(best),
                        part="progress",
                        method=called(name),
                        **choices,
                    )


def best_rates(rows, criterion, highest):
    """(seed, algorithm -> its best client and server rate on that seed's data)."""
    for seed, part in rows.groupby("seed"):
        best = winners(part, criterion, last_rounds(rows), highest)
        yield seed, {name: tuple(float(rate) for rate in point) for name, point in best.items()}


@claim("C4")
def C4(results):
    """FedDualAvg's best client rate on LASSO (I) over the largest of the others', as printed and under other readings of the
    setup."""
    setups = {"as printed": next(over_band(results, "lasso", "I", band=False)).rows}
    for (loss, means), part in results.traces("fco_lasso_readings").groupby(["loss", "means"]):
        if loss != "squared" or not means:
            own = "clients' own means" if means else "no means"
            setups[f"{loss} loss, {own}"] = part
    for setup, rows in setups.items():
        for mirror, four in mirrors(rows):
            for name, (criterion, highest) in CRITERIA.items():
                choices = {"setup": setup, "FedMiD": mirror, "tuned for": name}
                for seed, best in best_rates(four, criterion, highest):
                    others = [rates[0] for other, rates in best.items() if other != "feddualavg"]
                    if "feddualavg" in best and others:
                        ratio = best["feddualavg"][0] / max(others)
                        yield row(ratio, seed=seed, origin=origin_of(four), **choices)


def exact_rank(results, numeral):
    """Rounds until FedDualAvg's rank is the truth's and stays so for ten records, at tuned rates and at the quickest."""
    for data in over_band(results, "lowrank", numeral):
        own = data.rows[data.rows.algorithm == "feddualavg"]
        about = {"part": numeral, "penalty": data.penalty}
        found = wait(tuned(own, "error"), "rank", exact_to(true_rank(data)))
        yield from waited(found, own, rates="tuned for recovery error", **about)
        yield from waited(soonest(own, "rank", exact_to(true_rank(data))), own, rates="the quickest", **about)


def exact_to(wanted):
    return lambda rank: rank == wanted


def true_rank(data):
    """Of the matrix to be recovered."""
    return int(next(iter(data.references.values())).facts["true_rank"])


@claim("C5")
def C5(results):
    """Rounds until FedDualAvg has the exact rank on low rank (I), (II), (III), at tuned rates and at the quickest."""
    for numeral in ("I", "II", "III"):
        yield from exact_rank(results, numeral)


@claim("C6")
def C6(results):
    """Rounds until FedDualAvg has the exact rank on low rank (IV), at tuned rates and at the quickest."""
    yield from exact_rank(results, "IV")


@claim("C7")
def C7(results):
    """FedDualAvg-OSP's rank over the true one and its error over FedDualAvg's, on low rank (I) to (III)."""
    for numeral in ("I", "II", "III"):
        for data in over_band(results, "lowrank", numeral):
            best = tuned(data.rows, "error")
            means, choices = ends(best, ["rank", "error"]), {"dataset": numeral, "penalty": data.penalty}
            for seed, rank in by_seed(means["rank"]):
                if "feddualavg_osp" in rank:
                    ratio = rank["feddualavg_osp"] / true_rank(data)
                    yield row(ratio, seed=seed, origin=origin_of(best), part="rank", **choices)
            for seed, error in by_seed(means["error"]):
                if {"feddualavg", "feddualavg_osp"} <= set(error.index):
                    ratio = error["feddualavg_osp"] / error["feddualavg"]
                    yield row(ratio, seed=seed, origin=origin_of(best), part="error", **choices)


def way_covered(cells, level):
    """Rounds, by seed, until F1 has come a share of the way from the start's to 1."""
    start = cells[cells["round"] == 0].f1.mean()
    return wait(cells, "f1", lambda f1: f1 >= start + level * (1.0 - start))


@claim("C15")
def C15(results):
    """Rounds of the quickest other method to a share of the way from the start's F1 to 1, over FedDualAvg's, on LASSO (I)."""
    for choices, best, _ in compared(results, "I", ["f1"]):
        for level in LEVELS:
            found = {name: way_covered(cells, level) for name, cells in best.groupby("algorithm")}
            own = found.pop("feddualavg", {})
            others = {seed: min(w.get(seed, np.inf) for w in found.values()) for seed in own} if found else {}
            yield from times(others, own, best, **choices, **{"share of the way": f"{level:g}"})


@claim("C16")
def C16(results):
    """FedDualAvg's lead in F1 over FedDualAvg-OSP on LASSO (I), by how much that lead is smaller on (II) and (III), and
    FedDualAvg-OSP's rounds there to a share of the way from the start's F1 to 1, over those on (I)."""
    lead, needed = {}, {}
    for numeral in ("I", "II", "III"):
        for data in over_band(results, "lasso", numeral):
            for name, (criterion, highest) in CRITERIA.items():
                best = tuned(data.rows, criterion, highest)
                own = best[best.algorithm == "feddualavg_osp"]
                for level in LEVELS if len(own) else ():
                    reading = {"penalty": data.penalty, "tuned for": name, "share of the way": f"{level:g}"}
                    key = tuple(reading.values())
                    needed[numeral, key] = way_covered(own, level)
                    if numeral != "I" and ("I", key) in needed:
                        pair = needed[numeral, key], needed["I", key]
                        yield from times(*pair, own, part="faster", dataset=numeral, **reading)
                for seed, f1 in by_seed(ends(best, ["f1"]).f1):
                    if {"feddualavg", "feddualavg_osp"} <= set(f1.index):
                        key = data.penalty, name, seed
                        lead[numeral, key] = f1["feddualavg"] - f1["feddualavg_osp"]
                        about = {"penalty": data.penalty, "tuned for": name}
                        if numeral == "I":
                            yield row(lead["I", key], seed=seed, origin=origin_of(best), part="lead", **about)
                        elif ("I", key) in lead:
                            closer = lead["I", key] - lead[numeral, key]
                            yield row(
                                closer,
                                seed=seed,
                                origin=origin_of(best),
                                part="closer",
                                dataset=numeral,
                                **about,
                            )


@claim("C17")
def C17(results):
    """FedDualAvg-OSP's F1 on LASSO (IV) over the last rounds."""
    for data in over_band(results, "lasso", "IV"):
        for name, (criterion, highest) in CRITERIA.items():
            best = tuned(data.rows[data.rows.algorithm == "feddualavg_osp"], criterion, highest)
            for seed, f1 in by_seed(ends(best, ["f1"]).f1):
                for value in f1:
                    about = {"penalty": data.penalty, "tuned for": name}
                    yield row(value, seed=seed, origin=origin_of(best), **about)


@claim("C18")
def C18(results):
    """Rounds until the recovery error falls to a share of the start's on (IV), over those on (I), for every method."""
    for kind, title in (("lasso", "LASSO"), ("lowrank", "low rank")):
        one, four = (next(over_band(results, kind, numeral, band=False)).rows for numeral in ("I", "IV"))
        for fall in FALLS:
            found = []
            for rows in (four, one):
                target = fall * rows[rows["round"] == 0].error.mean()
                found.append({
                    name: wait(cells, "error", lambda error, target=target: error <= target)
                    for name, cells in tuned(rows, "error").groupby("algorithm")
                })  # fmt: skip
            for name in sorted(set(found[0]) & set(found[1])):
                about = {"method": called(name), "problem": title, "share of the error": f"{fall:g}"}
                yield from times(found[0][name], found[1][name], four, **about)


@claim("C19")
def C19(results):
    """Rounds of FedMiD and FedMiD-OSP on low rank (I) over FedDualAvg's: until the loss is near the optimum, and until the rank
    is exact."""
    data = next(over_band(results, "lowrank", "I", band=False))
    best, wanted = tuned(data.rows, "error"), true_rank(data)
    value = {seed: ref.facts["value"] for seed, ref in data.references.items()}
    start = best[best["round"] == 0].groupby("seed").loss.mean()

    def until_loss(name, fall):
        return {
            seed: next(iter(wait(cells, "loss", near(value[seed], start[seed], fall)).values()))
            for seed, cells in best[best.algorithm == name].groupby("seed")
        }

    def near(optimum, begin, fall):
        return lambda loss: loss - optimum <= fall * (begin - optimum)

    def until_rank(name):
        return wait(best[best.algorithm == name], "rank", lambda rank: rank == wanted)

    for name in (*MIRROR, "fedmid_osp"):
        for fall in FALLS:
            about = {"part": "loss", "method": called(name), "share of the gap": f"{fall:g}"}
            yield from times(until_loss(name, fall), until_loss("feddualavg", fall), best, **about)
        yield from times(until_rank(name), until_rank("feddualavg"), best, part="rank", method=called(name))


@claim("C27")
def C27(results):
    """How many steps of the grid the best pair of rates lies from its nearest edge, for every method and dataset."""
    for kind, title in (("lasso", "LASSO"), ("lowrank", "low rank")):
        for numeral in ("I", "II", "III", "IV"):
            rows = next(over_band(results, kind, numeral, band=False)).rows
            grids = [sorted({float(rate) for rate in rows[column].unique()}) for column in RATES]
            for name, (criterion, highest) in CRITERIA.items():
                if criterion not in rows:
                    continue
                for seed, best in best_rates(rows, criterion, highest):
                    for method, rates in best.items():
                        for part, rate, grid in zip(("client", "server"), rates, grids, strict=True):
                            at = grid.index(rate)
                            about = {
                                "method": called(method),
                                "dataset": f"{title} ({numeral})",
                                "tuned for": name,
                            }
                            edge = min(at, len(grid) - 1 - at)
                            yield row(edge, seed=seed, origin=origin_of(rows), part=part, **about)


@evidence()
def tuned_for(results):
    """Whether the two criteria choose the same rates."""
    rows = next(over_band(results, "lasso", "I", band=False)).rows
    own = rows[rows.algorithm == "feddualavg"]
    found = {
        name: winners(own, c, last_rounds(own), h).get("feddualavg") for name, (c, h) in CRITERIA.items()
    }
    if None in found.values():
        return "FedDualAvg diverges at all rates"
    if len(set(found.values())) == 1:
        return f"for FedDualAvg on LASSO (I) the same rates win: {' and '.join(next(iter(found.values())))}"
    words = [f"{' and '.join(point)} by {name}" for name, point in found.items()]
    return f"for FedDualAvg on LASSO (I) the rates {', '.join(words)} win"
