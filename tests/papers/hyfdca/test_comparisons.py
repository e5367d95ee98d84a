"""Who wins, counted by rounds and by time, on traces made by hand."""

import numpy as np
import pandas as pd
import pytest

from fedrepro.experiments.reference import Reference
from fedrepro.papers.hyfdca import readings as comparisons

ROUNDS = np.arange(0, 21)
ENCRYPTED = [
    "encryption_steps",
    "decryption_steps",
    "slowest_encryptions",
    "slowest_decryptions",
    "additions",
    "decryptions",
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
                "dataset": name, "data_origin": "mirror", "clients": "2x2@1", "algorithm": method, "p_tuned_for": "gra", "status": "done",
                "seed": seed, "round": ROUNDS, "seconds": 0.0, "relative_loss": loss, "accuracy": 1 - loss / 4,
                "turns": ROUNDS, "exchanges": ROUNDS * (10 if method == "hyfdca" else 1),
                **dict.fromkeys(ENCRYPTED, ROUNDS * (method == "hyfdca")),
            })
            for method, loss in curves.items() for seed in (0, 1)
        ], ignore_index=True)  # fmt: skip

    def reference(self, name):
        if name == "hyfdca_encrypted":
            cost = {"encrypt": 1.0, "decrypt": 1.0, "add": 0.0}
            return {
                ("cipher=none", 0): Reference(facts={f"published {k} seconds": v for k, v in cost.items()})
            }
        return {("clients=2x2@1", 0): Reference(facts={"latency": 0.1})}


def wins(table):
    return {rival: set(table[table.rival == rival].wins) for rival in comparisons.METHODS[1:]}


def test_by_iteration_the_rival_may_be_taken_at_its_best():
    assert wins(comparisons.by_iteration(Made())) == {"fedavg_hybrid": {True}, "hyfem": {True}}
    best = comparisons.by_iteration(Made(), iterate="best")
    assert wins(best) == {"fedavg_hybrid": {False}, "hyfem": {True}}
    assert len(best) == 3 * 2 * 2 and set(best.seeds_won[best.rival == "hyfem"]) == {2}


def test_by_iteration_the_run_may_end_earlier():
    assert list(comparisons.after(Made(), "x")) == [5, 10, 20]
    assert wins(comparisons.by_iteration(Made(), rounds=1))["fedavg_hybrid"] == {False}


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


def timed(losses, **more):
    return pd.DataFrame(
        {"status": "done", "time": np.arange(len(losses)) * 1.0, "relative_loss": losses, **more}
    )


FALLING, RISING = np.linspace(2.0, 1.0, 21), np.linspace(0.5, 1.0, 21)


@pytest.mark.parametrize(
    ("ours", "theirs", "end", "expected"),
    [
        (FALLING - 1, FALLING, 20, True),
        (FALLING, FALLING - 1, 20, False),
        (FALLING - 1, FALLING, 50, None),  # the rival has time left and still falls
        (FALLING - 1, RISING + 1, 50, True),  # … has turned for good
        (FALLING - 1, np.full(21, 3.0), 50, True),  # … or has settled
        (FALLING, RISING - 0.5, 50, None),  # so might HyFDCA go on
        (RISING, FALLING - 1, 50, False),
    ],
)
def test_equal_time(ours, theirs, end, expected):
    assert comparisons.ahead(timed(ours), timed(theirs), end, "relative_loss") is expected


def test_a_rival_goes_on_while_it_has_time():
    rows = Made().traces("x")
    onward = rows[rows.algorithm == "hyfem"].copy()
    onward["algorithm"], onward["relative_loss"], onward["accuracy"] = "hyfem_onward", 0.01, 0.99
    onward["exchanges"] *= 10
    cells = pd.concat([rows, onward], ignore_index=True).assign(time=lambda r: 0.1 * r.exchanges)
    assert comparisons.wins_in_time(rows.assign(time=0.1 * rows.exchanges), "hyfdca")[0][0] == 0.5
    assert comparisons.wins_in_time(cells, "hyfdca")[0][1] < 1


def test_longer_runs_are_compared_as_far_as_the_shortest_goes():
    class Longer(Made):
        def traces(self, name):
            rows = super().traces(name)
            turned = {"relative_loss": 3 - rows.relative_loss, "accuracy": 1 - rows.accuracy}
            more = rows.assign(algorithm=rows.algorithm + "_onward", **turned)
            more["round"] *= np.where(more.algorithm == "hyfdca_onward", 2, 3)
            return pd.concat([rows, more], ignore_index=True)

    rounds = comparisons.after(Longer(), "x")
    assert list(rounds) == [5, 10, 20, 40] and set(rounds[40].algorithm) == set(comparisons.METHODS)
    assert rounds[40]["round"].max() <= 40 and set(rounds[20].algorithm) == set(comparisons.METHODS)
    assert wins(comparisons.by_iteration(Longer(), rounds=3))["hyfem"] == {False}


def test_narrower_grids_of_a_rival():
    table = np.array([[10, a, b, 0.0, 0.0, 0.0] for a in (0.1, 1, 10, 100) for b in (1, 10)])
    counts = {name: int(lines.sum()) for name, lines in comparisons.grids(table).items()}
    assert counts == {"a up to 1, one b": 2, "a up to 10, one b": 3, "all": 8}


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        (FALLING, "falling"),
        (RISING, "turned"),
        (np.full(21, 3.0), "settled"),
        (np.full(21, np.nan), "diverged"),
    ],
)
def test_how_a_run_ended(losses, expected):
    cells = timed(losses).assign(status="diverged" if expected == "diverged" else "done")
    assert comparisons.ending(cells) == expected


def test_the_two_clocks_of_an_encrypted_run():
    """The solver's clock takes in the cipher's: two seconds of a round are computation, three encryption."""
    works = {f"{work}_seconds": np.arange(6) * 0.75 for work in comparisons.WORKS}
    sealed = pd.DataFrame({"cipher": "ckks", "round": np.arange(6), "seconds": np.arange(6) * 5.0, **works})
    clear = sealed.assign(cipher="none", seconds=np.arange(6) * 2.0, **dict.fromkeys(works, 0.0))
    found = comparisons.sealed_components(pd.concat([sealed, clear]))
    assert found["ckks"].computation == pytest.approx(2.0) and found["ckks"].encrypt == pytest.approx(0.75)
    assert comparisons.agreement(found, "ckks") == pytest.approx(1.0)
    slower = comparisons.sealed_components(pd.concat([sealed.assign(seconds=np.arange(6) * 8.0), clear]))
    assert comparisons.agreement(slower, "ckks") == pytest.approx(2.0)


def test_what_a_run_is_charged_over_what_it_took():
    """Two rounds of two clients after the first one, fifty scalars in each of four messages."""
    counts = {"turns": [2, 6], "encryptions": [9, 209], "decryptions": [5, 105], "additions": [0, 0],
              "encryption_steps": [2, 4], **{f"{work}_seconds": [1.0, 2.0] for work in comparisons.WORKS}}  # fmt: skip
    rows = pd.DataFrame({"cipher": "paillier", "round": [1, 3], **counts})
    cost = {"encrypt": 0.01, "decrypt": 0.01, "refresh": 0.01, "add": 0.0}
    times = {"paillier, measured": cost, "ckks, measured": {k: v / 4096 for k, v in cost.items()}}
    assert comparisons.charged_over_spent(rows, "paillier", times) == pytest.approx((2.0 + 2.0) / 4.0)
    packed = comparisons.charged_over_spent(rows.assign(cipher="ckks"), "ckks", times)
    assert packed == pytest.approx((4 * 0.01 + 2 * 0.02) / 4.0)  # four packs encrypted, two opened
