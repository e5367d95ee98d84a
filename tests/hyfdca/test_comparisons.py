"""Who wins, counted by rounds and by time, on traces made by hand."""

import numpy as np
import pandas as pd
import pytest

from fedrepro import comparisons

ROUNDS = np.arange(0, 21)
ENCRYPTED = [
    "encryption_steps",
    "decryption_steps",
    "slowest_encryptions",
    "slowest_decryptions",
    "additions",
]


class Made:
    """HyFDCA ends lower but its rounds take ten exchanges; a rival's take one, and FedAvg is best half-way."""

    def traces(self, name):
        curves = {
            "hyfdca": 2.0 - 1.9 * ROUNDS / 20,
            "fedavg_hybrid": 0.05 + 0.05 * np.abs(ROUNDS - 10.0),
            "hyfem": 2.0 - ROUNDS / 20,
        }
        return pd.concat([
            pd.DataFrame({
                "dataset": name, "clients": "2x2@1", "algorithm": method, "p_tuned_for": "gra", "status": "done",
                "seed": seed, "round": ROUNDS, "seconds": 0.0, "relative_loss": loss, "accuracy": 1 - loss / 4,
                "turns": ROUNDS, "exchanges": ROUNDS * (10 if method == "hyfdca" else 1),
                **dict.fromkeys(ENCRYPTED, ROUNDS * (method == "hyfdca")),
            })
            for method, loss in curves.items() for seed in (0, 1)
        ], ignore_index=True)  # fmt: skip

    def reference(self, name):
        if name == "hyfdca_encrypted":
            cost = {"encrypt": 1.0, "decrypt": 1.0, "add": 0.0}
            return {("cipher=none", 0): {f"published {k} seconds": v for k, v in cost.items()}}
        return {("clients=2x2@1", 0): {"latency": 0.1}}


def wins(table):
    return {rival: set(table[table.rival == rival].wins) for rival in comparisons.METHODS[1:]}


def test_by_iteration_the_rival_may_be_taken_at_its_best():
    assert wins(comparisons.by_iteration(Made())) == {"fedavg_hybrid": {True}, "hyfem": {True}}
    best = comparisons.by_iteration(Made(), iterate="best")
    assert wins(best) == {"fedavg_hybrid": {False}, "hyfem": {True}}
    assert len(best) == 3 * 2 * 2 and set(best.seeds_won[best.rival == "hyfem"]) == {2}


def test_by_iteration_the_run_may_end_earlier():
    assert wins(comparisons.by_iteration(Made(), share=0.5))["fedavg_hybrid"] == {False}


def test_by_time_it_matters_whose():
    own, rivals = (comparisons.by_time(Made(), "none", budget) for budget in ("hyfdca", "rival"))
    assert wins(own) == {"fedavg_hybrid": {True}, "hyfem": {True}} and set(own.rounds) == {20}
    assert wins(rivals) == {"fedavg_hybrid": {False}, "hyfem": {False}} and set(rivals.rounds) == {2}
    # charged two seconds a round for encryption, HyFDCA does not finish one in the two seconds of a rival
    assert set(comparisons.by_time(Made(), "published", "rival").rounds) == {0}


def test_a_pack_costs_the_same_half_empty():
    rows = pd.DataFrame({"encryption_steps": [2, 4], "slowest_encryptions": [2 * 100, 4 * 5000],
                         "decryption_steps": [0, 1], "slowest_decryptions": [0, 4096]})  # fmt: skip
    packs = comparisons.whole_packs(rows) / 4096
    assert packs.slowest_encryptions.tolist() == [2, 8] and packs.slowest_decryptions.tolist() == [0, 1]


def test_settings_run_from_easy_to_hard():
    assert comparisons.in_order(["10x5@0.2", "5x4@0.5", "2x2@1", "2x2@0.5"]) == [
        "2x2@1",
        "2x2@0.5",
        "5x4@0.5",
        "10x5@0.2",
    ]


def test_diverged_runs_never_win():
    cells = Made().traces("x")
    cells = cells[(cells.algorithm == "hyfdca") & (cells.seed == 0)].assign(status="diverged")
    assert comparisons.score(cells, "relative_loss", "last") == pytest.approx(np.inf)
