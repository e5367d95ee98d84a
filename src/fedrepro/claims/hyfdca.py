"""How the claims of Overman, Blum & Klabjan 2023 are measured."""

import numpy as np
import pandas as pd

from fedrepro import bounds
from fedrepro.claims import FAILED, PARTLY, REPRODUCED, Finding, spread
from fedrepro.comparisons import (
    CHARGES,
    DATASETS,
    METHODS,
    by_iteration,
    by_time,
    components,
    encryption_times,
    scores,
    seconds_a_round,
)
from fedrepro.problems.hyfdca import THEOREMS

NEAR_OPTIMUM = 0.01  # relative loss we call converged
MOST = 0.75  # of the comparisons: half of them, as a coin would give, supports no claim to all


EARLIER = {"a quarter": 0.25, "a half": 0.5}  # the number of rounds is not stated


def count(table) -> str:
    return f"{int(table.wins.sum())}/{len(table)}"


def D1(results):
    chosen = by_iteration(results)
    ways = {
        f"tuned for {aim}, rivals at their {iterate} round": by_iteration(results, aim, iterate)
        for aim in sorted(set(results.traces(DATASETS[0]).p_tuned_for.dropna()) - {"gra"})
        for iterate in ("last", "best")
    }
    lost = chosen[~chosen.wins]
    all_won = bool(chosen.wins.all()) and all(t.wins.all() for t in ways.values())
    share = chosen.wins.mean()
    why = "; ".join(f"{name}: {count(table)}" for name, table in ways.items())
    if len(lost):
        by = lost.groupby(["dataset", "metric"]).size()
        why += ". Lost by Gray Relational Analysis: " + ", ".join(
            f"{n} on {d} ({m})" for (d, m), n in by.items()
        )
    early = {words: by_iteration(results, share=share) for words, share in EARLIER.items()}
    why += ". Ended earlier: " + "; ".join(
        f"after {words} of the rounds {count(t)}" for words, t in early.items()
    )
    why += ". Clients, fractions, rounds and grids are not stated"
    return Finding(
        f"{count(chosen)} by outer iteration",
        REPRODUCED if all_won else PARTLY if share >= MOST else FAILED,
        why,
    )


def D2(results):
    tables = {(c, b): by_time(results, c, b) for c in CHARGES for b in ("hyfdca", "rival")}
    needed = 33 / 36
    own, rivals, rounds = tables["published", "hyfdca"], tables["published", "rival"], by_iteration(results)
    strict = [tables["published", b].wins.mean() >= needed for b in ("hyfdca", "rival")]
    some = [key for key, table in tables.items() if key[0] != "none" and table.wins.mean() >= needed]
    why = (
        "whoever ends earlier stands at its last point; HyFDCA ahead, budget its own / the rival's time: "
        + "; ".join(
            f"encryption {c}: {count(tables[c, 'hyfdca'])} / {count(tables[c, 'rival'])}" for c in CHARGES
        )
    )
    none = int((rivals.rounds < 1).sum())
    why += (
        f". Charged for every scalar, HyFDCA records no round at all in the rival's time in {none} of "
        f"{len(tables['published', 'rival'])} comparisons"
    )
    return Finding(
        f"{count(own)} in HyFDCA's time, {count(rivals)} in the rival's; "
        f"with those by iteration {count(pd.concat([rounds, own]))}, {count(pd.concat([rounds, rivals]))}",
        REPRODUCED if all(strict) else PARTLY if some else FAILED,
        why,
    )


def D3(results):
    ours, theirs = [], []
    for name in DATASETS:
        rows = results.traces(name)
        for _, cells in rows[rows.p_tuned_for == "loss"].groupby("clients"):
            ours.append(scores(cells[cells.algorithm == "hyfdca"], "relative_loss", "last").median())
            theirs += [
                scores(cells[cells.algorithm == m], "relative_loss", "best").median() for m in METHODS[1:]
            ]
    near, far = sum(v < NEAR_OPTIMUM for v in ours), sum(v > NEAR_OPTIMUM for v in theirs)
    long = results.traces("hyfdca_window")
    long = long[long["round"] == long["round"].max()]
    best = {m: long[long.p_local == m].groupby(["clients", "p_inner"]).relative_loss.median().min()
            for m in ("practical", "refreshed")}  # fmt: skip
    ten = "; ".join(f"on {rows.dataset.iloc[0].partition(',')[0]} to {ending(rows)}" for rows in (
        results.traces("hyfdca_long_covtype"), results.traces("hyfdca_long_newsgroups")))  # fmt: skip
    apart = far == len(theirs)
    verdict = REPRODUCED if near == len(ours) and apart else PARTLY if apart and near else FAILED
    why = (
        f"relative loss below {NEAR_OPTIMUM:g} counts as converged; rivals at their best round; tuned for loss. "
        f"With everybody present and {long['round'].max()} rounds on a part of MNIST Algorithm 5 gets to "
        f"{best['practical']:.1e} and our refreshed variant to {best['refreshed']:.1e}. Given ten times the rounds it gets {ten}"
    )
    return Finding(
        f"HyFDCA {spread(ours, '{:.2g}')}, converged in {near} of {len(ours)} settings; "
        f"rivals {spread(theirs, '{:.2g}')}, above it in {far} of {len(theirs)}",
        verdict,
        why,
    )


def ending(rows) -> str:
    """`0.01 (5x4@1), 0.02 (5x4@0.5)`: relative loss as the mean over the last tenth of the rounds."""
    late = rows[rows["round"] >= 0.9 * rows["round"].max()]
    return ", ".join(f"{v:.1g} ({name})" for name, v in late.groupby("clients").relative_loss.mean().items())


def D4(results):
    times = encryption_times(results)
    shares = {charge: [] for charge in CHARGES[:-1]}
    for name in DATASETS:
        ends = results.ends(name)
        latency = next(iter(results.reference(name).values()))["latency"]
        cells = ends[(ends.algorithm == "hyfdca") & (ends.p_tuned_for == "gra")]
        for charge, found in shares.items():
            parts = components(cells, latency, charge, times)
            found += list(parts.encryption / parts.sum(axis=1))
    held = {charge: float(np.mean(np.array(found) > 0.5)) for charge, found in shares.items()}
    everywhere = [min(shares[charge]) > 0.5 for charge in ("published", "published, one a vector")]
    verdict = REPRODUCED if all(everywhere) else PARTLY if any(everywhere) else FAILED
    why = (
        "it hangs on what is charged and on the latency, which are not stated. Share of the time of a round that is encryption: "
        + "; ".join(
            f"{charge}: {spread(found, '{:.2g}')}, above half in {held[charge]:.0%} of runs"
            for charge, found in shares.items()
        )
    )
    why += (
        ". Really encrypted runs visit the same points: their dual gaps differ from the plain ones "
        f"by at most {drift(results, 'hyfdca_encrypted'):.0e} on the small problem (Paillier, CKKS) and by "
        f"{drift(results, 'hyfdca_sealed'):.0e} on MNIST (CKKS), {sealed(results)}"
    )
    return Finding(
        f"encryption is {spread(shares['published'], '{:.1%}')} of the time as published", verdict, why
    )


def sealed(results) -> str:
    """What the really encrypted rounds on MNIST took, beside what the time model charges for them."""
    rows = results.traces("hyfdca_sealed")
    clear, hidden = (rows[rows.cipher == cipher] for cipher in ("none", "ckks"))
    seconds = seconds_a_round(hidden) - seconds_a_round(clear)
    end = hidden.tail(1)
    charged = components(end, 0.0, "ckks, measured", encryption_times(results)).encryption / end["round"]
    present = end.turns / end["round"]
    return (
        f"where CKKS takes {seconds / present.iloc[0]:.2g} s a round on each of {present.iloc[0]:.0f} clients; "
        f"the time model charges {charged.iloc[0]:.2g} s"
    )


def drift(results, experiment: str) -> float:
    """The largest difference between the dual gaps of encrypted runs and of the same run in the clear."""
    gaps = results.traces(experiment).pivot_table(index="round", columns="cipher", values="dual_gap")
    return float(gaps.sub(gaps["none"], axis=0).abs().to_numpy().max())


REPAIRS = {
    "4.5": "t0 = N/H log(gap_0/G)",
    "4.8": "t0 = N/(PH) log(gap_0/G)",
    "4.11": "the exponent H/(NC) for H/N",
}


def theorem(results, name):
    cases = [c for c in bounds.cases(results) if c.theorem.startswith(name)]
    failing = [c for c in cases if c.excess("printed") > 1]
    repaired = np.nanmax([c.excess("repaired") for c in cases])  # nan: its first round was not reached
    value = f"as printed it fails in {len(failing)} of {len(cases)} cases"
    if not failing:
        return Finding(f"{value}; gap over bound at most {max(c.excess('printed') for c in cases):.2g}", REPRODUCED,
                       "mean over seeds, every lambda and H run")  # fmt: skip
    worst = max(failing, key=lambda c: c.excess("printed"))
    kept = sorted({c.lam for c in cases} - {c.lam for c in failing})
    clients, _, gamma, share = THEOREMS[worst.theorem]
    facts = results.reference("hyfdca_theorems")
    N, M = (int(next(iter(facts.values()))[k]) for k in "NM")
    why = (
        f"worst on {N} unit rows of {M} features, clients {clients}, gamma = {gamma}, c = {share}, lambda = {worst.lam:g}, "
        f"H = {worst.inner} ({worst.theorem}): gap over bound {worst.excess('printed'):.2g}, "
        f"first above it in round {worst.first_failure():.0f}. "
        f"It holds for lambda in {{{', '.join(f'{v:g}' for v in kept)}}}. "
        f"With {REPAIRS[name]} the gap is at most {repaired:.2g} times the bound in all cases tried"
    )
    return Finding(value, PARTLY if kept and repaired <= 1 else FAILED, why)


def D5(results):
    return theorem(results, "4.5")


def D6(results):
    return theorem(results, "4.8")


def D7(results):
    return theorem(results, "4.11")


def D8(results):
    ahead, usable, settings = 0, [], 0
    for name in DATASETS:
        for (_, seed), ref in results.reference(name).items():
            if seed == 0:
                settings += 1
                losses = {m: ref[f"{m} tuning"][:, -3] for m in METHODS}
                rival = min(np.nanmin(losses[m]) for m in METHODS[1:])
                ahead += bool(np.nanmin(losses["hyfdca"]) < rival)
                usable.append(float(np.mean(losses["hyfdca"] < rival)))
    verdict = (
        REPRODUCED
        if ahead == settings and min(usable) >= 0.5
        else PARTLY
        if ahead >= settings / 2
        else FAILED
    )
    why = (
        "equal numbers of grid points for all methods. One number is indeed all HyFDCA asks for, but its window is narrow: "
        f"{spread(usable, '{:.0%}')} of the values of H tried beat the rivals' best loss"
    )
    return Finding(f"its best H beats the rivals' best point in {ahead} of {settings} settings", verdict, why)


# --- evidence for the slips ---


def ends_of_slips(results, local, lengths):
    ends = results.ends("hyfdca_slips")
    return ends[(ends.p_local == local) & (ends.lengths == lengths)]


def closed_form(results):
    words = []
    for lengths, rows in (("unit", "unit rows"), ("any", "other rows")):
        wrong, right = (
            ends_of_slips(results, local, lengths).relative_loss for local in ("printed", "practical")
        )
        words.append(
            f"{rows}: relative loss {spread(wrong, '{:.2g}')} as printed, {spread(right, '{:.1e}')} as corrected"
        )
    return "; ".join(words)


def sign(results):
    wrong, right = (ends_of_slips(results, local, "unit") for local in ("theory_printed", "theory"))
    return (
        f"as printed the dual gap ends at {spread(wrong.dual_gap, '{:.2g}')}, where it began; "
        f"with the sign corrected at {spread(right.dual_gap, '{:.2g}')}"
    )


def first_round(results):
    cases = [c for c in bounds.cases(results) if c.theorem in ("4.5", "4.8")]
    worst = max(cases, key=lambda c: c.excess("printed"))
    repaired = np.nanmax([c.excess("repaired") for c in cases])
    return (
        f"gap over bound {worst.excess('printed'):.2g} at lambda = {worst.lam:g}, H = {worst.inner} as printed; "
        f"with N/H put in at most {repaired:.2g} in all cases"
    )


def cyclic_rate(results):
    worst = max(
        (c for c in bounds.cases(results) if c.theorem.startswith("4.11")), key=lambda c: c.excess("printed")
    )
    return (
        f"gap over bound {worst.excess('printed'):.3g} at lambda = {worst.lam:g}, H = {worst.inner}, {worst.theorem} as printed, "
        f"{worst.excess('repaired'):.3g} with the exponent divided by C"
    )
