"""What every algorithm must satisfy, of whatever federation, checked on the smallest block that runs it."""

import pytest

from fedrepro import algorithms, trace
from fedrepro.config import load
from fedrepro.problems import Data
from fedrepro.runner import run_block
from fedrepro.workflow import Plan

pytestmark = pytest.mark.workflow
LEDGER = ("floats_down", "floats_up", "messages", "exchanges", "gradients", "hessians", "proxes", "seconds")


def smallest_block(name):
    """The block with the fewest cells; None for an algorithm no experiment runs."""
    blocks = [b for b in load({"scale": "smoke"}).blocks if b.algorithm == name]
    return min(blocks, key=lambda b: len(b.settings) * len(b.params) * b.seeds, default=None)


@pytest.mark.parametrize("name", algorithms.names())
def test_the_same_block_again_gives_the_same_bits(name, finished, tmp_path, monkeypatch):
    """Alone, in another process and order than in the pipeline: identical but for the clock."""
    monkeypatch.chdir(finished)
    block = smallest_block(name)
    if block is None:
        pytest.skip("no experiment runs it")
    plan = Plan({"scale": "smoke"})
    data = None if block.dataset == "synthetic" else Data(block.dataset, plan.data(block).get("partition"))
    run_block(block, plan.reference(block.experiment), tmp_path / "again.parquet", data)
    before, again = (trace.read(p) for p in (plan.trace(block), tmp_path / "again.parquet"))
    clocks = [c for c in before if c.endswith("seconds")]
    assert before.drop(columns=clocks).equals(again.drop(columns=clocks))


def test_no_ledger_ever_decreases(finished):
    for path in (finished / "results/smoke/traces").rglob("*.parquet"):
        rows = trace.read(path)
        cells = rows.groupby(["setting", "algorithm", "params", "seed"], sort=False)
        for column in LEDGER:
            steps = cells[column].diff().dropna()
            assert (steps >= 0).all(), f"{path}: {column}"
