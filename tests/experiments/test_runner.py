"""Cells: statuses, targets, the stopped clock, and what a trace holds."""

import time

import numpy as np
import pyarrow.parquet as pq
import pytest

from federations import quadratic_problem
from fedrepro.algorithms import algorithm
from fedrepro.algorithms.fedgd import fedgd
from fedrepro.experiments import trace
from fedrepro.experiments.experiment import Block, Experiment, Stop
from fedrepro.experiments.runner import recorded, run_block, run_cell, solve_references


def cell(function=fedgd, rounds=50, problem=None, **stop):
    problem = problem or quadratic_problem()
    params = stop.pop("params", {})
    return run_cell(function, problem, problem.reference(), params, Stop(rounds, **stop), ("gap",))


def test_a_target_ends_the_cell():
    found, status = cell(rounds=10_000, below=1e-6)
    assert status == "done"
    assert found.last("gap") <= 1e-6 < found.columns["gap"][-2]


def test_a_missed_target_is_budget():
    assert cell(rounds=2, below=1e-30)[1] == "budget"


def test_without_a_target_all_rounds_are_done():
    found, status = cell(rounds=7)
    assert (status, found.last("round")) == ("done", 7)


def test_a_target_may_name_a_hyperparameter():
    found, status = cell(params={"step": 0.02}, below="step", rounds=1000)  # the gap must fall to 0.02
    assert status == "done"
    assert found.last("gap") <= 0.02 < found.columns["gap"][-2]


def test_divergence_is_recorded_up_to_the_point():
    found, status = cell(rounds=5000, params={"step": "500/L*"})
    assert status == "diverged"
    assert 1 < found.last("round") < 5000


@algorithm(needs={"gradient"})
def breaks_down(clients, *, after=3):
    for _ in range(after):
        yield clients.start
    raise np.linalg.LinAlgError("singular")


def test_a_broken_local_solve_is_divergence_not_a_crash():
    found, status = cell(breaks_down)
    assert (status, found.last("round")) == ("diverged", 3)


@algorithm(needs={"gradient"})
def not_a_number(clients, *, after=2):
    for _ in range(after):
        yield clients.start
    while True:
        yield clients.start * np.nan


def test_not_a_number_is_divergence():
    assert cell(not_a_number)[1] == "diverged"


def test_an_algorithm_without_its_oracle_is_refused():
    @algorithm(needs={"telepathy"})
    def reader(clients):
        yield clients.start

    with pytest.raises(LookupError, match="needs the oracle telepathy"):
        cell(reader)


def busy(seconds: float) -> float:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return 1.0


def test_the_clock_stops_while_measuring():
    problem = quadratic_problem()
    problem.measures["slow"] = lambda x: busy(0.02)
    found, _ = run_cell(fedgd, problem, problem.reference(), {}, Stop(5), ("gap", "slow"))
    assert found.last("seconds") < 0.05


def test_the_clock_counts_work_and_not_waiting():
    @algorithm(needs=set())
    def works(clients):
        while True:
            yield clients.start if busy(0.02) else None

    @algorithm(needs=set())
    def waits(clients):
        while True:
            yield clients.start if time.sleep(0.02) is None else None

    problem = quadratic_problem()
    spent = [
        run_cell(f, problem, problem.reference(), {}, Stop(3), ("gap",))[0].last("seconds")
        for f in (works, waits)
    ]
    assert spent[0] >= 0.06 and spent[1] < 0.02


def test_late_rounds_are_thinned():
    kept = [r for r in range(1, 20_000) if recorded(r, r - 1)]
    assert kept[:1000] == list(range(1, 1001))
    previous = 1000
    late = [previous := r for r in range(1001, 20_000) if recorded(r, previous)]
    assert 250 < len(late) < 350


EXPERIMENT = Experiment(
    paper="fedsplit",
    name="fedsplit_fig3",
    problem="fedsplit.conditioned_least_squares",
    dataset="synthetic",
    partition=None,
    settings=tuple({"m": 2, "d": 3, "n": 6, "sigma2": 1, "kappa": k} for k in (1, 10)),
    varied=("kappa",),
    seeds=2,
)


def block(**changes) -> Block:
    base = {
        "experiment": EXPERIMENT,
        "name": "fedgd",
        "algorithm": "fedgd",
        "params": ({"step": "1/L*"}, {"step": "2/(l*+L*)"}),
        "stop": Stop(5),
        "measures": ("gap", "distance"),
    }
    return Block(**(base | changes))


def test_a_block_writes_tidy_rows_with_provenance(tmp_path):
    reference, output = tmp_path / "r.npz", tmp_path / "deep" / "t.parquet"
    solve_references(EXPERIMENT, reference)
    run_block(block(), reference, output)
    rows = trace.read(output)
    assert len(rows) == 2 * 2 * 2 * 6
    assert set(rows.setting) == {"kappa=1", "kappa=10"}
    assert set(rows.p_step) == {"1/L*", "2/(l*+L*)"}
    assert set(rows.data_origin) == {"synthetic"} and set(rows.status) == {"done"}
    facts = trace.footer(output)
    assert {"packages", "cpu", "blas", "commit", "config_hash", "block", "data_checksums"} <= set(facts)
    assert Block.from_json(facts["block"]) == block()
    assert list(tmp_path.rglob("*.tmp")) == []


def test_traces_are_bit_identical_whatever_is_run_beside(tmp_path):
    """The same cells alone and within a larger block."""
    reference = tmp_path / "r.npz"
    solve_references(EXPERIMENT, reference)
    run_block(block(), reference, tmp_path / "all.parquet")
    run_block(block(params=({"step": "2/(l*+L*)"},)), reference, tmp_path / "one.parquet")
    whole = trace.read(tmp_path / "all.parquet")
    part = trace.read(tmp_path / "one.parquet").drop(columns="seconds")
    same = whole[whole.p_step == "2/(l*+L*)"].drop(columns="seconds").reset_index(drop=True)
    assert part.equals(same)


def test_a_failing_write_leaves_no_file(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(OSError, match="No space left"):
        trace.write(tmp_path / "t.parquet", [cell()[0].table(seed=0)], {})
    assert list(tmp_path.iterdir()) == []
