"""What every algorithm must satisfy, of whatever federation, checked on the smallest block that runs it."""

import pytest

from fedrepro import algorithms
from fedrepro.experiments import trace
from fedrepro.experiments.problem import Data
from fedrepro.experiments.runner import run_block
from fedrepro.federation.ledger import COLUMNS
from fedrepro.pipeline.plan import Plan

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def plan(finished):
    """Read once: it takes longer than most blocks here."""
    return Plan({"scale": "smoke"}, finished)


def smallest_block(plan, name):
    """The block with the fewest cells; None for an algorithm no experiment runs."""
    return min((b for b in plan.config.blocks if b.algorithm == name), key=lambda b: b.cells, default=None)


@pytest.mark.parametrize("name", algorithms.names())
def test_the_same_block_again_gives_the_same_bits(name, plan, finished, tmp_path, monkeypatch):
    """Alone, in another process and order than in the pipeline: identical but for the clock."""
    monkeypatch.chdir(finished)
    block = smallest_block(plan, name)
    if block is None:
        pytest.skip("no experiment runs it")
    run = block.experiment
    data = Data.of(run, plan.data(run).get("partition"))
    run_block(block, plan.reference(run.name), tmp_path / "again.parquet", data)
    before, again = (trace.read(p) for p in (plan.trace(block), tmp_path / "again.parquet"))
    assert before.drop(columns=trace.CLOCK).equals(again.drop(columns=trace.CLOCK))


def test_no_ledger_ever_decreases(finished):
    for path in (finished / "results/smoke/traces").rglob("*.parquet"):
        rows = trace.read(path)
        cells = rows.groupby(["setting", "algorithm", "params", "seed"], sort=False)
        for column in (*COLUMNS, trace.CLOCK):
            steps = cells[column].diff().dropna()
            assert (steps >= 0).all(), f"{path}: {column}"
