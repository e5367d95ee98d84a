"""The same bits whatever the machine is asked to do meanwhile: threads, order of jobs, caches, locale, hash seed, folder."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bits import differences
from fault_runs import FIGURE, SMOKE, run

from fedrepro.maths import kernels
from project_copy import copy_project

pytestmark = pytest.mark.faults  # long: `make test-faults`

KERNELS = Path(kernels.__file__).parent
THREADS = {
    "OMP_NUM_THREADS": "4",
    "OPENBLAS_NUM_THREADS": "3",
    "MKL_NUM_THREADS": "2",
    "NUMBA_NUM_THREADS": "2",
}
PLACE = {"PYTHONHASHSEED": "77", "LC_ALL": "C", "LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}
SAME = "nothing: the same bytes"


def caches(project: Path) -> dict[str, str]:
    """The loops that a run in this copy has compiled."""
    return {"NUMBA_CACHE_DIR": str(project / KERNELS.relative_to(KERNELS.parents[3]) / "__pycache__")}


@pytest.mark.workflow
def test_a_paper_and_a_figure_in_two_environments(tmp_path, tally):
    """FedSplit with its notebook and page, and figure 3 of FCO, whose loops are compiled: cold on one side, as one job at a
    time with other threads, locale and hash seed on the other."""
    one, two = (copy_project(tmp_path / name / "project") for name in ("one", "two"))
    page = ("results/smoke/report/index.html", *SMOKE, 'papers=["fedsplit"]')
    for project, words, circumstances in (
        (one, ("--cores", "2"), {"PYTHONHASHSEED": "1"}),
        (two, ("--cores", "1", "--prioritize", FIGURE), THREADS | PLACE),
    ):
        run(project, *words, FIGURE, "fco_fig3", *SMOKE, circumstances=circumstances)
        run(project, *words[:2], *page, circumstances=circumstances)
    different = differences(one / "results/smoke", two / "results/smoke")
    tally.add(
        "other threads, locale, hash seed and order: one paper, its notebook and page", not different, SAME
    )
    assert different == []


@pytest.mark.faults
@pytest.mark.parametrize(
    "name", ["threads, one core", "locale, hash seed, time zone", "warm caches, another order"]
)
def test_all_papers_in_other_environments(undisturbed, project, name, tally):
    words, circumstances = {
        "threads, one core": (("--cores", "1"), THREADS),
        "locale, hash seed, time zone": (("--cores", "2"), PLACE),
        "warm caches, another order": (
            ("--cores", "2", "--prioritize", "shed", "hyfdca"),
            caches(undisturbed),
        ),
    }[name]
    run(project, *words, "all", *SMOKE, circumstances=circumstances)
    different = differences(undisturbed / "results/smoke", project / "results/smoke")
    tally.add(f"{name}: five papers", not different, SAME)
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
