"""Every claim of FedHybrid turns both ways when the traces of a finished run are tampered with."""

from dataclasses import replace

import numpy as np
import pytest

from doctored import as_it_is, judged, standins
from fedrepro.pipeline.config import load
from fedrepro.reporting.verdicts import DEPENDS, FAILED, REPRODUCED, UNTESTED

pytestmark = pytest.mark.workflow
CLAIMS = list(load({"scale": "smoke", "papers": ["fedhybrid"]}).papers["fedhybrid"].raw["claims"])


def speeds(**decades):
    """Every gap falls by so many decades a round, by algorithm; `others` where it is not named."""

    def change(experiment, rows):
        rate = rows.algorithm.astype(str).map(decades).fillna(decades["others"])
        return rows.assign(gap=10.0 ** (-rate * rows["round"]), status="done")

    return change


def errors(factor, power=0.0):
    """Δ of section 4 falls by a factor a round; `power` makes it fall faster with more Newton clients."""

    def change(experiment, rows):
        if "dual_gap" not in rows:
            return rows
        rate = 1.0 + power * rows.p_newton.astype(float)
        return rows.assign(dual_gap=factor ** (rate * rows["round"]), tracking_error=0.0)

    return change


def both(*changes):
    def change(experiment, rows):
        for one in changes:
            rows = one(experiment, rows)
        return rows

    return change


def dearer(kind, times=10):
    """One round brings every gap to nothing; DiSCO's takes so many times as much with clients of one kind."""

    def change(experiment, rows):
        later = rows["round"] > 0
        factor = np.where(rows.algorithm.eq("disco") & rows.clients.eq(kind), times, 1)
        return rows.assign(gap=np.where(later, 1e-12, 1.0), round=later * factor, exchanges=later * factor)

    return change


def by_stiffness(stiff, soft):
    """Speed by who turns Newton, twice as fast with all but one of them."""

    def change(experiment, rows):
        rate = np.where(rows.p_chosen == "softest", soft, stiff)
        rate = rate * np.where(
            (rows.p_newton == "all but one") & (rows.p_chosen != "softest"), stiff / soft, 1.0
        )
        return rows.assign(gap=10.0 ** (-rate * rows["round"]), status="done")

    return change


def constants(**new):
    """References with other constants: functions of the old ones."""

    def facts(experiment, table):
        return {
            k: replace(ref, constants=ref.constants | {name: f(ref.constants) for name, f in new.items()})
            for k, ref in table.items()
        }

    return facts


ALIKE = constants(low=lambda c: np.ones(len(c["high"])), high=lambda c: np.ones(len(c["high"])))
IN_ORDER = constants(order=lambda c: np.argsort(-c["high"], kind="stable"))
FASTER, SLOWER = speeds(fedh_g=0.01, fedh_n=0.09, others=0.03), speeds(fedh_g=0.09, fedh_n=0.01, others=0.03)

# claim -> (traces, references) with which it holds, and with which it fails
TURNS = {
    "H1": ((speeds(fedavg=0.01, others=0.05), as_it_is), (speeds(fedavg=0.05, others=0.01), as_it_is)),
    "H2": ((FASTER, as_it_is), (SLOWER, as_it_is)),
    "H3": ((speeds(fedh_n=3, others=0.01), as_it_is), (speeds(fedh_n=0.001, others=9), as_it_is)),
    "H4": ((errors(0.1), as_it_is), (errors(1.0), as_it_is)),
    "H5": ((dearer("unlike"), as_it_is), (dearer("shuffled"), as_it_is)),
    "H6": ((both(FASTER, errors(0.9, 1.0)), ALIKE), (both(SLOWER, errors(0.5, -0.1)), ALIKE)),
    "H7": ((by_stiffness(0.02, 0.01), IN_ORDER), (by_stiffness(0.01, 0.02), IN_ORDER)),
}


def test_every_claim_is_here():
    assert list(TURNS) == CLAIMS


@pytest.mark.parametrize("claim", CLAIMS)
def test_it_turns_both_ways(claim, finished):
    folder = finished / "results/smoke"
    holds, fails = (judged(folder, "fedhybrid", claim, *changes).verdict for changes in TURNS[claim])
    assert holds == REPRODUCED
    assert fails == FAILED


def test_the_theorem_s_rate_at_its_own_stepsizes_turns_on_whether_anybody_is_newton(finished):
    verdict = judged(finished / "results/smoke", "fedhybrid", "H6", both(FASTER, errors(0.9, 1.0)))
    assert verdict.verdict == DEPENDS and "fewer newton clients" in verdict.turns_on


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_stand_in_tests_nothing(claim, finished):
    assert judged(finished / "results/smoke", "fedhybrid", claim, standins).verdict == UNTESTED
