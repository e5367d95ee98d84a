"""How the claims of Dal Fabbro et al. on sharing eigenpairs are measured: parameter, renewals, increments (E1-E6)."""

import numpy as np

from fedrepro.claims import FAILED, PARTLY, REPRODUCED, UNTESTED, Finding, spread
from fedrepro.claims.shed_readings import across, besides_that, number, reach, songs_as_run

CENTRINGS = (("shed_fmnist_increments", "PCA uncentred"), ("shed_centred_increments", "PCA centred"))


def news(results):
    """The ways of settling what is open of the least squares on news, and the traces run under each."""
    rows = results.traces("shed_news")
    parts = rows[rows.algorithm == "shed_ls"].groupby(["mu", "intercept"])
    for (mu, intercept), cells in sorted(parts, key=lambda part: (-float(part[0][0]), part[0][1])):
        yield f"Online News, μ = {float(mu):.0e}{', intercept' if intercept else ''}", cells


def E1(results):
    held, largest, medians = {}, {}, {}
    for name, cells in news(results):
        found = ratios(cells)
        if not found:
            return Finding("-", UNTESTED, "too few rounds at this scale")
        largest[name], medians[name] = max(found), float(np.median(found))
        held[name] = largest[name] <= 1 + 1e-6
    rows = results.traces("shed_msd_iid")
    songs = ratios(rows[rows.algorithm == "shed_ls_rho"])
    besides = f"median {np.median(songs):.3f}, largest {max(songs):.3f}" if songs else "too few rounds"
    usual = all(m <= 1 + 1e-6 for m in medians.values())
    verdict = REPRODUCED if all(held.values()) else PARTLY if usual or any(held.values()) else FAILED
    value = "; ".join(f"{n}: median {medians[n]:.4f}, largest {largest[n]:.3f}" for n in held)
    why = (
        f"error with ρ* over error with λ_(q+1), all rounds and seeds; on the {songs_as_run(results)}: {besides}. "
        "Corollary 2 promises it for one agent only"
    )
    return Finding(value, verdict, why, held)


def ratios(cells) -> list[float]:
    """Error with ρ* over error with λ_{q+1} at every round of every seed, above rounding."""
    found = []
    for _, rows in cells.groupby("seed"):
        by = {r: c.set_index("round").distance for r, c in rows.groupby("p_rho")}
        found += (by["optimal"] / by["next"])[by["next"] > 1e-9].dropna()[1:].tolist()
    return found


def E2(results):
    found = by_period(results)
    rows = results.traces("shed_msd_iid")
    songs = periods(results, "shed_msd_iid", rows[rows.algorithm == "shed_ls_periodic"], convex=False)
    besides = f"On the {songs_as_run(results)}: {summary(songs[0])}, bound {summary(songs[1])}"
    return besides_that(found, f"the last whole period of each seed. {besides}")


def by_period(results):
    held, words = {}, []
    for experiment, name in CENTRINGS:
        rows = results.traces(experiment)
        rows = rows[rows.algorithm == "shed_periodic"]
        slopes, bounds = periods(results, experiment, rows, convex=True)
        held[name] = all(s <= b * (1 + 1e-6) for s, b in zip(slopes, bounds, strict=True)) if slopes else None
        words.append(f"{name}: factor {summary(slopes)} a step, bound {summary(bounds)}")
    return Finding("; ".join(words), *across(held), held)


def summary(slopes) -> str:
    return spread(slopes, "{:.4f}") if slopes else "- (no whole period)"


def lyapunov(spectrum, period: int, convex: bool) -> float:
    """ā_T of eqs. (24) and (36) with one EEP a round: the geometric mean of 1 − λ̄_n/ρ̄_k over a period."""
    q = np.minimum(np.arange(1, period + 1), len(spectrum) - 1)
    rho = spectrum[q] if convex else (spectrum[q] + spectrum[-1]) / 2
    return float(np.prod(np.maximum(1 - spectrum[-1] / rho, 0.0)) ** (1 / period))


def periods(results, experiment, rows, convex):
    """By seed, where a whole period lies above rounding: the error's contraction a step over the last one, and the
    bound it should obey."""
    slopes, bounds = [], []
    for (setting, seed), cells in rows.groupby(["setting", "seed"]):
        period = int(cells.p_period.iloc[0])
        error = cells.set_index("round").distance
        ends = [t for t in range(period - 1, int(error.index.max()) + 1, period) if t > 0 and error[t] > 1e-9]
        if len(ends) > 1:
            slopes.append(float((error[ends[-1]] / error[ends[-2]]) ** (1 / period)))
            spectrum = results.reference(experiment)[setting, seed]["spectrum"]
            bounds.append(lyapunov(spectrum, period, convex))
    return slopes, bounds


def E3(results):
    held, words = {}, []
    for name, cells in news(results):
        cells = cells[cells.p_rho == "optimal"]
        n = len(results.reference("shed_news")[cells.setting.iloc[0], 0]["spectrum"])
        ends = np.concatenate([reach(c, "round", 1e-16 * c.gap.iloc[0]) for _, c in cells.groupby("seed")])
        enough = cells["round"].max() >= n - 1
        held[name] = True if ends.max() <= n - 1 else False if enough else None
        words.append(f"{name}: {', '.join(map(number, ends))} of {n - 1}")
    songs = results.traces("shed_msd_iid")
    songs = songs[(songs.algorithm == "shed_ls") & (songs.p_increment == "1")]
    ended = reach(songs, "round", 1e-16 * songs.gap.max())
    verdict, why = across(held)
    why += (
        "; rounds of one EEP until the cost has fallen by 1e-16, by seed, of the n - 1 that tell all; "
        f"on the {songs_as_run(results)} {number(np.median(ended))}"
    )
    return Finding("; ".join(words), verdict, why, held)


def increments(results, experiment):
    """Rounds and vectors to convergence by increment, medians over seeds."""
    rows = results.traces(experiment)
    rows = rows[rows.algorithm == "fib_shed"]
    return {
        (d, column): float(np.median(reach(cells, column)))
        for d, cells in rows.groupby("p_increment")
        for column in ("exchanges", "vectors")
    }


def by_increment(results, measure, holds, text):
    held, words = {}, []
    for experiment, name in CENTRINGS:
        table = increments(results, experiment)
        try:
            found = measure(table)
        except KeyError:
            return Finding("-", UNTESTED, "this scale does not run the increments")
        decided = np.all(np.isfinite(found))
        held[name] = bool(holds(*found)) if decided else None
        words.append(f"{name}: {text.format(*found) if decided else 'not all converge'}")
    return Finding("; ".join(words), *across(held), held)


def E4(results):
    return by_increment(
        results,
        lambda t: (t["1", "exchanges"] / t["3", "exchanges"], t["3", "vectors"] / t["1", "vectors"]),
        lambda speed, load: speed >= 1.8 and load <= 1.15,
        "{:.2f}x fewer rounds, {:.2f}x the vectors",
    )


def E5(results):
    return by_increment(
        results,
        lambda t: (t["1", "exchanges"] / t["30", "exchanges"], t["30", "vectors"] / t["1", "vectors"]),
        lambda speed, load: 8 <= speed <= 12 and load > 1.2,
        "{:.1f}x fewer rounds for 15.5x the vectors a round, {:.2f}x the vectors in all",
    )


def E6(results):
    return by_increment(
        results,
        lambda t: tuple(t[d, "exchanges"] for d in ("3", "channel", "6")),
        lambda three, channel, six: six <= channel <= three,
        "{:.0f}, {:.0f} and {:.0f} rounds for 3, d_γ and 6",
    )
