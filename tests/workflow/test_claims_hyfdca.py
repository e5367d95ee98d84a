"""Every claim of HyFDCA turns both ways when the traces of a finished run are tampered with."""

import numpy as np
import pytest

from doctored import as_it_is, judged, standins
from fedrepro.pipeline.config import load
from fedrepro.reporting.verdicts import FAILED, ON_RELATIVE, REPRODUCED, UNTESTED

pytestmark = pytest.mark.workflow
CLAIMS = list(load({"scale": "smoke", "papers": ["hyfdca"]}).papers["hyfdca"].raw["claims"])
CIPHERED = ("encryption_steps", "decryption_steps", "slowest_encryptions", "slowest_decryptions", "additions")


def put(ours=None, theirs=None, **columns):
    """Constants in columns: of HyFDCA's rows (`ours`), of the rivals' (`theirs`), or of all."""

    def change(experiment, rows):
        hyfdca = rows.algorithm.str.startswith("hyfdca")  # and its longer runs
        for mine, values in ((hyfdca, ours or {}), (~hyfdca, theirs or {}), (hyfdca | ~hyfdca, columns)):
            for name in set(values) & set(rows):
                rows[name] = rows[name].astype(float)
                value = values[name]
                rows.loc[mine, name] = value(rows[mine]) if callable(value) else value
        return rows

    return change


def second(better):
    """Loss and accuracy where the second SecureInnerProduct is in, better or worse than where it is not."""

    def change(experiment, rows):
        put_in = rows.p_second_product == "True"
        rows["relative_loss"] = np.where(put_in, 0.1 if better else 1.0, 0.5)
        rows["accuracy"] = np.where(put_in, 0.9 if better else 0.1, 0.5)
        return rows

    return change


def central(printed):
    """The accuracy of the centralised model: high or low at the printed lambda."""

    def change(experiment, references):
        lam = {"mnist": 1e-3, "newsgroups": 1e-5, "covtype": 5e-5}[experiment.rpartition("_")[2]]
        for (setting, _), reference in references.items():
            reference.facts["accuracy"] = printed if float(setting.removeprefix("lambda=")) == lam else 0.5
        return references

    return change


def settles(value, moving=0.0):
    return put(relative_loss=value) if not moving else lambda e, rows: rows.assign(
        relative_loss=value + moving * (rows["round"] % 4)
    )  # fmt: skip


def tuned(ours, theirs):
    """The losses on the grids of hyper-parameters: HyFDCA's and the rivals', the best and the worst of each."""

    def change(experiment, references):
        for reference in references.values():
            for name in (key for key in reference.facts if key.endswith(" tuning")):
                table = reference.facts[name]
                ends = ours if name.startswith("hyfdca") else theirs
                table[:, -3] = table[:, -2] = np.linspace(*ends, len(table))
        return references

    return change


def falls(rows):
    """A gap that halves every round."""
    return 0.5 ** rows["round"].astype(float)


AHEAD, BEHIND = {"relative_loss": 0.0, "accuracy": 1.0}, {"relative_loss": 1.0, "accuracy": 0.0}
TURNS = {  # claim -> (traces, references) that make it hold, and that make it fail
    "D1": (
        (put(AHEAD, BEHIND), tuned((0.1, 0.2), (1.0, 9.0))),
        (put(BEHIND, AHEAD), tuned((1.0, 9.0), (0.1, 0.2))),
    ),
    "D2": ((put(AHEAD, BEHIND), as_it_is), (put(BEHIND, AHEAD), as_it_is)),
    "D3": ((put(AHEAD, BEHIND), as_it_is), (put(BEHIND, BEHIND), as_it_is)),
    "D4": (
        (put(**dict.fromkeys(CIPHERED, 1e12)), as_it_is),
        (put(**dict.fromkeys(CIPHERED, 0.0), exchanges=1e12), as_it_is),
    ),
    "D5": ((put(dual_gap=1e-9), as_it_is), (put(dual_gap=1e9), as_it_is)),
    "D6": ((put(dual_gap=1e-9), as_it_is), (put(dual_gap=1e9), as_it_is)),
    "D7": ((put(dual_gap=1e-9), as_it_is), (put(dual_gap=1e9), as_it_is)),
    "D8": ((as_it_is, tuned((0.1, 0.2), (1.0, 9.0))), (as_it_is, tuned((1.0, 9.0), (0.1, 0.2)))),
    "D9": (
        (put(rows_recovered=0.0, duals_opened=0.0), as_it_is),
        (put(rows_recovered=0.01, duals_opened=0.0), as_it_is),
    ),
    "D10": ((second(better=False), as_it_is), (second(better=True), as_it_is)),
    "D11": ((as_it_is, central(0.9)), (as_it_is, central(0.1))),
    "D12": ((put(dual_gap=falls), as_it_is), (put(dual_gap=lambda rows: 1.0 + rows["round"]), as_it_is)),
    "D13": ((settles(1.0), as_it_is), (settles(1.0, moving=9.0), as_it_is)),
    "D14": ((as_it_is, tuned((0.1, 0.11), (0.1, 9.0))), (as_it_is, tuned((0.1, 9.0), (0.1, 0.11)))),
}


def test_every_claim_is_here():
    assert list(TURNS) == CLAIMS


@pytest.mark.parametrize("claim", CLAIMS)
def test_it_turns_both_ways(claim, finished):
    folder = finished / "results/smoke"
    holds, fails = (judged(folder, "hyfdca", claim, *changes).verdict for changes in TURNS[claim])
    assert holds in (REPRODUCED, ON_RELATIVE[REPRODUCED])
    assert fails in (FAILED, ON_RELATIVE[FAILED])


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_stand_in_tests_nothing(claim, finished):
    assert judged(finished / "results/smoke", "hyfdca", claim, standins).verdict == UNTESTED
