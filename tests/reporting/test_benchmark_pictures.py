"""What the benchmarks measured, as pictures and on the page."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fedrepro.experiments.results import Results
from fedrepro.reporting import benchmarks, page
from fedrepro.reporting.figures import save
from fedrepro.reporting.pictures import Definitions

ROOT = Path(__file__).resolve().parents[2]


def script(name):
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", ROOT / f"benchmarks/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_slope_is_that_of_the_largest_sizes():
    sizes = np.array([1000, 10, 100_000, 100, 10_000])
    assert benchmarks.slope(sizes, np.maximum(sizes / 1e3, 1.0) ** 2) == pytest.approx(2.0)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the peak of a process alone")
def test_every_method_is_measured_and_drawn(tmp_path):
    scaling = script("scaling")
    cells = list(scaling.cells(np.inf))
    assert {(axis, m["m"]) for axis, _, m in cells} >= {("clients", 10), ("clients", 100_000)}
    assert {"m": 100_000, "n": 50, "d": 100} in [size for _, name, size in cells if name == "fedgd_streamed"]
    scaling.SPENT = 0.0
    rows = [{"axis": axis, "method": method, "m": 10, "n": 10, "d": 10} | {benchmarks.SIZES[axis]: size}
            | scaling.measure(method, 10, 10, 10)
            for axis in benchmarks.SIZES for method in scaling.METHODS for size in (10, 20)]  # fmt: skip
    assert all(row["seconds"] > 0 and row["peak_mb"] > 10 for row in rows)
    pd.DataFrame(rows).to_csv(tmp_path / "scaling.csv", index=False)
    figure = benchmarks.scaling(tmp_path / "scaling.csv")
    assert len(figure.axes) == 6
    save(figure, tmp_path / "scaling.svg")
    assert [one["id"] for one in benchmarks.shown(tmp_path, Definitions())] == ["scaling"]


@pytest.mark.parametrize("measured", [True, False])
def test_the_page_shows_what_is_there(tmp_path, measured):
    class Unjudged(Results):
        def claims(self, *papers):
            return pd.DataFrame()

    if measured:
        rows = [{"axis": axis, "method": "giant", "m": size, "n": size, "d": size, "seconds": size**2, "own_mb": size}
                for axis in benchmarks.SIZES for size in (10, 100)]  # fmt: skip
        (tmp_path / "benchmarks").mkdir()
        pd.DataFrame(rows).to_csv(tmp_path / "benchmarks/scaling.csv")
        save(benchmarks.scaling(tmp_path / "benchmarks/scaling.csv"), tmp_path / "benchmarks/scaling.svg")
    page.write([], Unjudged(tmp_path / "smoke"), tmp_path / "smoke/report/index.html")
    text = (tmp_path / "smoke/report/index.html").read_text()
    assert ('<figure id="scaling">' in text) == ('<a href="#speed">' in text) == measured


def test_make_bench_in_small(tmp_path):
    """Every benchmark runs, its two sides agree where it compares them, and the table has what it promises."""
    command = [sys.executable, ROOT / "benchmarks", "--small", "--folder", tmp_path]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    table = pd.read_csv(tmp_path / "bench.csv")
    assert set(table["benchmark"]) == {"fco", "fedavg", "fedhybrid", "fedsplit", "hyfdca", "shed"}
    assert all(what in done.stdout for what in table["what"]) and table["what"].is_unique
    assert (table["ours"] > 0).all() and (table["bound"] > 0).all() and (table["plain"].dropna() > 0).all()
    np.testing.assert_allclose(table["ratio"], table["plain"] / table["ours"])
    np.testing.assert_allclose(table["share"], table["bound"] / table["ours"])
    assert [one["id"] for one in benchmarks.shown(tmp_path, Definitions())] == ["bench"]
