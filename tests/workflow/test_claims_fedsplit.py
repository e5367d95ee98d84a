"""Every claim of FedSplit turns both ways when the traces of a finished run are tampered with."""

import numpy as np
import pytest

from doctored import as_it_is, judged, standins
from fedrepro.pipeline.config import load
from fedrepro.reporting.verdicts import FAILED, ON_RELATIVE, REPRODUCED, UNTESTED

pytestmark = pytest.mark.workflow
CLAIMS = list(load({"scale": "smoke", "papers": ["fedsplit"]}).papers["fedsplit"].raw["claims"])


def ends_at(value, column="gap", **chosen):
    """Cells with these labels fall geometrically to `value` of their start, over all their rounds."""

    def change(experiment, rows):
        keys = ["setting", "algorithm", "params", "seed"]
        mine = np.ones(len(rows), bool)
        for name, wanted in chosen.items():
            mine &= (
                rows[name].isin(wanted if isinstance(wanted, tuple) else (wanted,)) if name in rows else False
            )
        part = rows[mine]
        first = part.groupby(keys)[column].transform("first")
        share = part["round"] / part.groupby(keys)["round"].transform("max")
        rows.loc[mine, column] = first * value**share
        return rows

    return change


def put(column, value, **chosen):
    """A constant (or a function of the rows) in a column of cells with these labels."""

    def change(experiment, rows):
        mine = np.ones(len(rows), bool)
        for name, wanted in chosen.items():
            mine &= (
                rows[name].isin(wanted if isinstance(wanted, tuple) else (wanted,)) if name in rows else False
            )
        rows[column] = rows[column].astype(float)
        rows.loc[mine, column] = value(rows[mine]) if callable(value) else value
        return rows

    return change


def both(*changes):
    def change(experiment, rows):
        for one in changes:
            rows = one(experiment, rows)
        return rows

    return change


def rounds_like(power, name, column="kappa"):
    """Rounds proportional to a power of a column."""
    return put("round", lambda rows: 1000 * rows[column].astype(float) ** power, algorithm=name)


def floors_by_steps(factor):
    """The more gradient steps a prox, the lower (factor < 1) or higher the gap."""
    return put(
        "gap",
        lambda rows: np.where(rows["round"] == 0, 1.0, factor ** rows.p_prox.astype(float)),
        algorithm="fedsplit_inexact",
    )


def falling_by(exact, inexact):
    """The gap falls by such a factor a round, with exact and with inexact proxes."""
    gaps = ((exact, "fedsplit"), (inexact, "fedsplit_inexact"))
    return both(*(put("gap", lambda rows, f=f: f ** rows["round"], algorithm=name) for f, name in gaps))


TURNS = {
    "S1": (ends_at(1e-12, algorithm="fedgd"), ends_at(0.1, algorithm="fedgd")),
    "S2": (as_it_is, ends_at(1e-14, algorithm=("fedgd", "fedprox"))),
    "S3": (put("gap", 1.0), both(put("gap", 1.0), put("gap", 2.0, algorithm=("fedgd_limit", "fedprox_limit")))),
    "S4": (ends_at(1e-12, algorithm="fedsplit"), ends_at(0.5, algorithm="fedsplit")),
    "S5": (put("distance", 1e-30), put("distance", 1e9)),
    "S6": (put("gap", lambda r: np.where(r["round"] == 0, 1.0, 1e-9)), put("gap", 1.0)),
    "S7": (floors_by_steps(0.1), floors_by_steps(2.0)),
    "S8": (
        both(put("round", 34_000, algorithm="fedgd"), put("round", 400, algorithm="fedsplit")),
        both(put("round", 3_000, algorithm="fedgd"), put("round", 400, algorithm="fedsplit")),
    ),
    "S9": (
        both(rounds_like(1.0, "fedgd"), rounds_like(0.5, "fedsplit")),
        both(rounds_like(1.0, "fedgd"), rounds_like(1.0, "fedsplit")),
    ),
    "S10": (put("value", 1.0, algorithm="fedsplit"), put("value", 1e12, algorithm="fedsplit")),
    "S11": (put("accuracy", 0.73), put("accuracy", 0.4)),
    "S12": (
        both(put("gap", 1e-9), rounds_like(-0.5, "fedsplit_regularised", "p_epsilon")),
        both(put("gap", 1e9), rounds_like(-0.5, "fedsplit_regularised", "p_epsilon")),
    ),
    "S13": (ends_at(1e-6, algorithm="fedgd"), ends_at(0.9, algorithm="fedgd")),
    "S14": (put("distance", 1e-9), put("distance", 1e9)),
    "S15": (put("prox_contraction", 1e-9), put("prox_contraction", 2.0)),
    "S16": (falling_by(0.1, 0.1), falling_by(0.1, 0.999)),
    "S17": (put("accuracy", lambda r: np.where(r.reg == 0.01, 0.9, 0.5)), put("accuracy", lambda r: np.where(r.reg == 0.01, 0.5, 0.9))),
}  # fmt: skip


def test_every_claim_is_here():
    assert list(TURNS) == CLAIMS


@pytest.mark.parametrize("claim", CLAIMS)
def test_it_turns_both_ways(claim, finished):
    folder = finished / "results/smoke"
    holds, fails = (judged(folder, "fedsplit", claim, change).verdict for change in TURNS[claim])
    assert holds in (REPRODUCED, ON_RELATIVE[REPRODUCED])
    assert fails in (FAILED, ON_RELATIVE[FAILED])


def test_a_floor_that_is_none_yet_decides_only_what_it_can(finished):
    """Curves that still fall when they end: above the level nothing is known, below it they hold."""
    folder = finished / "results/smoke"
    above, below = (
        judged(folder, "fedsplit", "S6", ends_at(v, algorithm="fedsplit_inexact")).verdict
        for v in (1e-4, 1e-12)
    )
    assert (above, below) == (UNTESTED, REPRODUCED)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_stand_in_tests_nothing(claim, finished):
    assert judged(finished / "results/smoke", "fedsplit", claim, standins).verdict == UNTESTED
