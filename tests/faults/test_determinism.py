"""The same bits whatever the machine is asked to do meanwhile: threads, order of jobs, caches, locale, hash seed, folder."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bits import differences
from fault_runs import FIGURE, PLACE, SMOKE, THREADS, run

from fedrepro.maths import kernels

KERNELS = Path(kernels.__file__).parent
SAME = "nothing: the same bytes"
FIGURES = (FIGURE, "fco_fig3")


@pytest.mark.workflow
def test_two_figures_in_another_environment(finished, project, tally):
    """One job at a time, in another order, with other threads, locale and hash seed; the loops of the second are compiled
    here once more."""
    words = ("--cores", "1", *FIGURES, "--prioritize", FIGURE)
    run(project, *words, *SMOKE, circumstances=THREADS | PLACE)
    different = differences(finished / "results/smoke", project / "results/smoke", part=True)
    tally.add("other threads, locale, hash seed and order: two figures", not different, SAME)
    assert different == []
    drawn = {
        p.relative_to(project / "results/smoke/figures")
        for p in project.rglob("results/smoke/figures/**/*.*")
    }
    assert {str(path.with_suffix("")).replace("/", "_") for path in drawn} == set(FIGURES)


@pytest.mark.faults
@pytest.mark.workflow
def test_all_that_is_made_from_traces_in_another_environment(after, finished, tally):
    """Figures, tables, claims, notebooks and the page, one job at a time."""
    results = after / "results/smoke"
    for name in ("figures", "tables", "notebooks", "report", "claims.csv", "evidence.parquet"):
        path = results / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    run(after, "--cores", "1", *SMOKE, circumstances=THREADS | PLACE)
    different = differences(finished / "results/smoke", results, timed_anew=False)
    tally.add(
        "the same: from the same traces all figures, tables, claims, notebooks and the page",
        not different,
        SAME,
    )
    assert different == []


WALKS = """
import hashlib
import numpy as np
from fedrepro.maths.kernels import linear, shrinkage
for side in (32, 7):
    rng = np.random.default_rng(side)
    X, y, start = rng.standard_normal((50, side * side)), rng.standard_normal(50), rng.standard_normal(side * side + 1)
    for name, code in shrinkage.CODES.items():
        for mode in (linear.DESCENT, linear.LAZY):
            out = np.empty((2, start.size))
            visits = np.tile(np.arange(50), (2, 1))
            linear.walk(0, 1.0, code, 0.7, side, mode, X, y, visits, np.array([50, 43]), 10, start, 0.01, 0.5, out)
            print(side, name, mode, hashlib.sha256(out.tobytes()).hexdigest())
"""


def test_the_process_that_compiles_and_those_that_load_give_the_same_bits(tmp_path, tally):
    circumstances = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    cold, warm = (
        subprocess.run(
            [sys.executable, "-c", WALKS], env=circumstances, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    )
    assert len(set(cold.stdout.splitlines())) > 10
    tally.add("cold and warm caches of compiled loops", cold.stdout == warm.stdout, SAME)
    assert cold.stdout == warm.stdout


def compiled(path: Path):
    """(function, its decorator's keywords as source) of every kernel in a module."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "njit":
                    yield node, {k.arg: ast.unparse(k.value) for k in decorator.keywords}


def test_no_kernel_that_others_call_lets_the_compiler_order_its_sums():
    """Unless it is always inlined: else which copy of it runs would depend on what was loaded before (kernels/__init__)."""
    found = [pair for path in KERNELS.glob("*.py") for pair in compiled(path)]
    called = {
        node.func.id
        for function, _ in found
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    loose = [
        function.name
        for function, flags in found
        if (
            "FAST" in flags.get("fastmath", "")
            or "reassoc" in flags.get("fastmath", "")
            or flags.get("fastmath") == "True"
        )
        and "forceinline" not in flags
    ]
    assert len(found) > 20 and "walk" in loose
    assert not called & set(loose)
