"""Tuned blocks: winners are recorded beside the run they made, the same whatever ran before."""

import dataclasses

import pytest

from fedrepro.experiments import trace
from fedrepro.experiments.experiment import Block, Experiment, Stop
from fedrepro.experiments.runner import run_block, solve_references

SETTING = {"n": 5, "d": 3, "sigma": 0.5, "rho": 0.1, "points": 40, "horizon": 20}
EXPERIMENT = Experiment(
    paper="fedhybrid",
    name="fedhybrid_setup1",
    problem="fedhybrid.synthetic_least_squares",
    dataset="synthetic",
    partition=None,
    settings=(SETTING,),
    varied=(),
    seeds=2,
)
BLOCK = Block(
    experiment=EXPERIMENT,
    name="fedh_k",
    algorithm="fedhybrid",
    params=({"newton": 2, "mu": [1e-4, 10], "a": [1e-4, 1], "b": "like a", "newton_b": [1e-4, 1]},),
    stop=Stop(20),
    measures=("gap", "distance"),
)


@pytest.fixture
def reference(tmp_path):
    solve_references(EXPERIMENT, tmp_path / "reference.npz")
    return tmp_path / "reference.npz"


def test_winners_are_columns_and_the_range_stays_the_label(tmp_path, reference):
    run_block(BLOCK, reference, tmp_path / "trace.parquet")
    rows = trace.read(tmp_path / "trace.parquet")
    ends = rows.groupby("seed").tail(1)
    assert set(rows.params) == {"newton=2,mu=[0.0001, 10],a=[0.0001, 1],b=like a,newton_b=[0.0001, 1]"}
    for name, high in (("p_mu", 10), ("p_a", 1), ("p_b", 1), ("p_newton_b", 1)):
        assert ends[name].astype(float).between(0.9999e-4, high * 1.0001).all()
    start = rows[rows["round"] == 0].gap.to_numpy()
    assert (ends.gap.to_numpy() < start).all()


def test_tuning_one_seed_does_not_depend_on_the_others(tmp_path, reference):
    run_block(BLOCK, reference, tmp_path / "both.parquet")
    first_seed = dataclasses.replace(BLOCK, experiment=dataclasses.replace(EXPERIMENT, seeds=1))
    run_block(first_seed, reference, tmp_path / "first.parquet")
    both, first = trace.read(tmp_path / "both.parquet"), trace.read(tmp_path / "first.parquet")
    again = both[both.seed == 0].drop(columns="seconds").reset_index(drop=True)
    assert again.equals(first.drop(columns="seconds").reset_index(drop=True))


def test_the_metric_of_section_4_is_recorded_from_the_start_on(tmp_path):
    experiment = dataclasses.replace(
        EXPERIMENT, problem="fedhybrid.random_quadratics", settings=({"n": 4, "d": 3, "kappa": 5},)
    )
    block = dataclasses.replace(
        BLOCK,
        experiment=experiment,
        params=({"newton": 2, "mu": 1.0, "a": "bound"},),
        measures=("gap", "tracking_error", "dual_gap"),
    )
    solve_references(experiment, tmp_path / "reference.npz")
    run_block(block, tmp_path / "reference.npz", tmp_path / "trace.parquet")
    rows = trace.read(tmp_path / "trace.parquet")
    assert (rows.dual_gap > 0).all() and (rows.tracking_error >= 0).all()
    error = rows.assign(error=13 * rows.dual_gap + rows.tracking_error).groupby("seed").error
    assert (error.diff().dropna() < 0).all()  # Theorem 4.1, from the first step on
