"""Successive halving over a grid: who stays, what is kept, how many cells that makes."""

import pytest

from fedrepro.experiments.experiment import Stop
from fedrepro.experiments.halving import halved, planned
from fedrepro.experiments.trace import Trace
from fedrepro.federation.ledger import Ledger


def test_successive_halving_keeps_the_best_and_every_trace():
    asked = []

    def run(params, stop):
        asked.append((params["rate"], stop.rounds))
        trace = Trace(("loss",))
        trace.add(
            round=stop.rounds,
            loss=abs(params["rate"] - 4),
            seconds=0.0,
            **dict.fromkeys(Ledger().row(), 0),
        )
        return trace, "diverged" if params["rate"] == 3 else "done"

    grid = [{"rate": rate} for rate in range(9)]
    dropped, left = halved(run, grid, Stop(90, halving=3), "loss")
    assert left == [{"rate": 4}]
    assert len(dropped) == 8 and {p["rate"] for p, _, _ in dropped} == set(range(9)) - {4}
    assert {rate for rate, rounds in asked if rounds == 30} == {2, 4, 5}  # 3 diverged; 2 comes before 6
    assert all(rounds in (10, 30) for _, rounds in asked)
    assert halved(run, grid, Stop(90), "loss") == ([], grid)


@pytest.mark.parametrize(
    "points, n, cells", [(9, 1, 27), (9, 3, 9 + 3 + 3), (25, 4, 25 + 7 + 2 * 3), (1, 4, 3)]
)
def test_the_cells_of_successive_halving_are_counted(points, n, cells):
    runs = []

    def run(params, stop):
        runs.append(params)
        return Trace(("loss",)), "diverged"

    _, left = halved(run, list(range(points)), Stop(90, halving=n), "loss")
    assert len(runs) + 3 * len(left) == planned(points, 3, n) == cells
