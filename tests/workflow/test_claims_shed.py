"""Every claim of the SHED paper turns both ways on doctored traces, and stand-ins test nothing."""

from types import SimpleNamespace

import numpy as np
import pytest

from doctored import judged, standins
from fedrepro.pipeline.config import load

pytestmark = pytest.mark.workflow
CELL = ["setting", "algorithm", "params", "seed"]
HOLDS, FAILS = ("reproduced", "on a relative: holds"), ("not reproduced", "on a relative: fails")
SKEW = ("skew", "flat")


def taking(cost):
    """Every cell converges in its last row, having taken `cost(experiment, first row of the cell)` rounds and vectors, or
    for each column what a dictionary says."""

    def change(experiment, frame):
        last = frame.groupby(CELL)["round"].transform("max") == frame["round"]
        each = frame.hessians.where(frame.hessians > 0).groupby([frame[c] for c in CELL]).transform("min")
        frame["gap"] = np.where(last, 1e-12, 1.0)
        taken = [cost(experiment, SimpleNamespace(**cell)) for cell in frame[last].to_dict("records")]
        taken = [t if isinstance(t, dict) else {"exchanges": t, "vectors": t} for t in taken]
        for column in taken[0]:
            values = np.array([t[column] for t in taken], float)
            frame[column] = frame[column].astype(float)
            frame.loc[last, column] = values * (each[last] if column == "hessians" else 1)
        return frame

    return change


def once(change):
    """Each experiment is changed once, however often a claim reads it."""
    kept = {}

    def changed(experiment, frame):
        if experiment not in kept:
            kept[experiment] = change(experiment, frame)
        return kept[experiment]

    return changed


def by_name(usual=1000, **costs):
    """By the algorithm's name."""
    return taking(lambda experiment, cell: costs.get(cell.algorithm, usual))


def by_increment(**costs):
    """By the increment, d1, d3, …; each with rounds, or rounds and vectors."""

    def cost(experiment, cell):
        found = costs.get(f"d{getattr(cell, 'p_increment', '')}", (100, 100))
        return dict(zip(("exchanges", "vectors"), found, strict=True))

    return taking(cost)


def skewed(**costs):
    """Non i.i.d.; all else takes 1,000 rounds."""
    return taking(lambda e, cell: costs.get(cell.algorithm, 1000) if e.endswith(SKEW) else 1000)


def flat(**costs):
    """At the smallest penalty; all else takes 100 rounds."""
    return taking(lambda e, cell: costs.get(cell.algorithm, 100) if float(cell.mu) < 1e-7 else 100)


def errors(optimal):
    """The error with the optimal parameter, over the other one."""

    def change(experiment, frame):
        times = np.where(frame.get("p_rho", "next") == "optimal", optimal, 1.0)
        frame["distance"] = times * 0.9 ** frame["round"]
        return frame

    return change


def slope(factor):
    """The error's factor per iteration, near the optimum after the first."""

    def change(experiment, frame):
        frame["distance"] = np.where(frame["round"] == 0, 1.0, 5e-3 * factor ** frame["round"])
        return frame

    return change


def gaps(gap):
    """The cost as a function of the algorithm and the round."""

    def change(experiment, frame):
        frame["gap"] = [gap(name, t) for name, t in zip(frame.algorithm, frame["round"], strict=True)]
        return frame

    return change


def columns(**values):
    """Numbers, or functions of the round, in some columns."""

    def change(experiment, frame):
        for column, value in values.items():
            frame[column] = value(frame["round"]) if callable(value) else value
        return frame

    return change


def shorter(experiment, references):
    """Problems of five parameters."""
    for reference in references.values():
        reference.optimum = reference.optimum[:5]
    return references


def w8a_and_images(w8a, images):
    """FedNL's rounds on web pages and on images, beside Fib-SHED's 1,000."""
    return taking(lambda e, cell: 1000 if cell.algorithm != "fednl" else w8a if "w8a" in e else images)


def mont_dec(end):
    """Fib-SHED+ leaves Mont-Dec after the fifth iteration."""
    return gaps(lambda name, t: end if t > 5 and name == "fib_shed_plus" else 0.5)


HESSIANS = {"exchanges": 450, "round": 450, "hessians": 12}
WATCHED = {
    "one_step": 0.5, "more": -0.1, "step": 1.0, "first_condition": 0.5, "second_condition": 0.5, "complete": 1.0,
    "distance": lambda t: 10.0 ** (-0.02 * t**2), "hessians": lambda t: 4 * (1 + t // 3),
}  # fmt: skip
CASES = {  # claim -> what makes it hold, what makes it fail
    "E1": (errors(0.9), errors(1.2)),
    "E2": (slope(0.2), slope(1.0)),
    "E3": (gaps(lambda name, t: 0.0 if t else 1.0), gaps(lambda name, t: 1.0)),
    "E4": (by_increment(d3=(50, 100)), by_increment(d3=(100, 100))),
    "E5": (by_increment(d30=(10, 150)), by_increment(d30=(50, 150))),
    "E6": (
        by_increment(d3=(100, 9), d6=(60, 9), dchannel=(80, 9)),
        by_increment(d6=(60, 9), dchannel=(120, 9)),
    ),
    "E7": (skewed(giant=3000), skewed(giant=1000)),
    "E8": (by_name(100, agd=2000, nesterov=2000), by_name(100, agd=50, nesterov=50)),
    "E9": (by_name(100, mont_dec=400), by_name(100, mont_dec=50)),
    "E10": (taking(lambda e, c: HESSIANS), taking(lambda e, c: HESSIANS | {"hessians": 40})),
    "E11": (by_name(fednl=4000), by_name(fednl=500)),
    "E12": (
        taking(lambda e, c: {"hessians": 200 if c.algorithm == "fednl" else 10}),
        taking(lambda e, c: {"hessians": 20 if c.algorithm == "fednl" else 10}),
    ),
    "E13": (flat(fib_shed=250, fednl=1000), flat(fib_shed=1000, fednl=1000)),
    "E14": (skewed(giant=1000), skewed(giant=5000)),
    "E15": (w8a_and_images(2000, 5000), w8a_and_images(500, 5000)),
    "E16": (
        taking(lambda e, c: {"exchanges": 100, "vectors": 50 if c.algorithm == "giant" else 100}),
        by_name(100, giant=1000),
    ),
    "E17": (
        taking(lambda e, c: {"exchanges": 150 if c.algorithm == "giant" else 100, "vectors": 100}),
        by_name(100, giant=50),
    ),
    "E18": (by_increment(dchannel=(50, 9)), by_increment(dchannel=(200, 9))),
    "E19": (skewed(), skewed(fednl=3000, fib_shed=3000, fib_shed_plus=3000)),
    "E20": (by_increment(d6=(60, 100)), by_increment(d6=(200, 100))),
    "E21": (by_increment(d30=(9, 300)), by_increment(d3=(9, 300), d30=(9, 300))),
    "E22": (mont_dec(1e-6), mont_dec(0.5)),
    "E23": (by_name(fednl=3000, giant=5000), by_name(fednl=500, giant=5000)),
    "E24": (by_name(), by_name(determinantal=300)),
    "E25": (by_name(), taking(lambda e, c: 500 if "learning" in e else 1000)),
    "E26": (columns(**WATCHED), columns(**WATCHED | {"one_step": 2.0})),
    "E27": (columns(**WATCHED), columns(**WATCHED | {"step": 0.5})),
    "E28": (flat(fednl=1000, giant=1000), flat(fib_shed=1000, fednl=1000, giant=1000)),
}
FACTS = {"E3": shorter}


@pytest.fixture(scope="module")
def folder(finished):
    return finished / "results/smoke"


def test_every_claim_has_its_case():
    assert set(CASES) == set(load({"scale": "smoke"}).papers["shed"].raw["claims"])


@pytest.mark.parametrize("claim", CASES)
def test_a_claim_turns_both_ways(folder, claim):
    facts = {"facts": FACTS[claim]} if claim in FACTS else {}
    good, bad = (judged(folder, "shed", claim, change=once(change), **facts) for change in CASES[claim])
    assert good.verdict in HOLDS, good.why
    assert bad.verdict in FAILS, bad.why


@pytest.mark.parametrize("claim", CASES)
def test_stand_ins_test_nothing(folder, claim):
    verdict = judged(folder, "shed", claim, change=once(standins))
    assert verdict.verdict == "not tested"
