"""Traces: columns, footers and arrays kept in them."""

import numpy as np
import pytest

from fedrepro.experiments import trace
from fedrepro.federation.ledger import COLUMNS, Ledger

ARRAYS = [
    np.arange(12, dtype="<f4").reshape(3, 4),
    np.array([[1, -2], [3, 2**40]]),
    np.array(2.5),
    np.array([]),
    np.zeros((0, 3)),
    np.array([True, False]),
    np.array([np.nan, np.inf, -0.0]),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array([1.0, 2.0], dtype=">f8"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype.str}{list(a.shape)}")
def test_an_array_survives_as_text(array):
    found = trace.array(trace.text(array))
    assert found.dtype == array.dtype and found.shape == array.shape
    np.testing.assert_array_equal(found, array)


def cell(rounds, value=1.0):
    made = trace.Trace(("gap",))
    for t in range(rounds):
        made.add(round=t, gap=value / (t + 1), seconds=0.1 * t, **Ledger(floats_up=3 * t).row())
    return made


def test_a_trace_has_the_measures_the_ledger_and_the_clock():
    assert list(cell(1).columns) == ["round", "gap", *COLUMNS, trace.CLOCK]


def test_cells_with_different_labels_are_one_file(tmp_path):
    tables = [
        cell(3).table(p_step="1/L*", setting="-", seed=0, centred=True),
        cell(2, 5.0).table(p_step="0.1", p_mu="2", setting="-", seed=1, centred=False),
    ]
    trace.write(tmp_path / "sub/t.parquet", tables, {"block": "{}", "words": "ℓ*"})
    rows = trace.read(tmp_path / "sub/t.parquet")
    assert rows.seed.tolist() == [0, 0, 0, 1, 1] and rows.p_step.tolist() == ["1/L*"] * 3 + ["0.1"] * 2
    assert rows.gap.tolist() == [1.0, 0.5, 1 / 3, 5.0, 2.5] and rows.floats_up.tolist() == [0, 3, 6, 0, 3]
    assert rows.centred.tolist() == [1, 1, 1, 0, 0]
    assert rows.p_mu.isna().tolist() == [True] * 3 + [False] * 2
    assert trace.footer(tmp_path / "sub/t.parquet") == {"block": "{}", "words": "ℓ*"}


def test_several_files_are_read_as_one(tmp_path):
    for name in "ab":
        trace.write(tmp_path / f"{name}.parquet", [cell(2).table(algorithm=name)], {})
    rows = trace.read(tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert rows.algorithm.tolist() == ["a", "a", "b", "b"] and rows.index.tolist() == [0, 1, 2, 3]
