"""Tuned blocks: winners are recorded beside the run they made, the same whatever ran before."""

import dataclasses

import pytest

from fedrepro import trace
from fedrepro.config import Block
from fedrepro.runner import run_block, solve_references

SETTING = {"n": 5, "d": 3, "sigma": 0.5, "rho": 0.1, "points": 40, "horizon": 20}
BLOCK = Block(
    paper="fedhybrid",
    experiment="fedhybrid_setup1",
    name="fedh_k",
    algorithm="fedhybrid",
    problem="fedhybrid.synthetic_least_squares",
    dataset="synthetic",
    partition=None,
    settings=(SETTING,),
    varied=(),
    params=({"newton": 2, "mu": [1e-4, 10], "a": [1e-4, 1], "b": "like a", "newton_b": [1e-4, 1]},),
    seeds=2,
    stop={"rounds": 20},
    measures=("gap", "distance"),
)


@pytest.fixture
def reference(tmp_path):
    solve_references(BLOCK, tmp_path / "reference.npz")
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
    run_block(dataclasses.replace(BLOCK, seeds=1), reference, tmp_path / "first.parquet")
    both, first = trace.read(tmp_path / "both.parquet"), trace.read(tmp_path / "first.parquet")
    again = both[both.seed == 0].drop(columns="seconds").reset_index(drop=True)
    assert again.equals(first.drop(columns="seconds").reset_index(drop=True))


def test_the_metric_of_section_4_is_recorded_from_the_first_round_on(tmp_path):
    block = dataclasses.replace(
        BLOCK,
        problem="fedhybrid.random_quadratics",
        settings=({"n": 4, "d": 3, "kappa": 5},),
        params=({"newton": 2, "mu": 1.0, "a": "bound"},),
        measures=("gap", "tracking_error", "dual_gap"),
    )
    solve_references(block, tmp_path / "reference.npz")
    run_block(block, tmp_path / "reference.npz", tmp_path / "trace.parquet")
    rows = trace.read(tmp_path / "trace.parquet")
    later = rows[rows["round"] > 0]
    assert rows[rows["round"] == 0].dual_gap.isna().all()
    assert (later.dual_gap > 0).all() and (later.tracking_error >= 0).all()
    assert (later.groupby("seed").dual_gap.diff().dropna() < 0).all()
