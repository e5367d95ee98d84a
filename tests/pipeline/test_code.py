"""The code a job depends on: everything it imports, what lies beside that, the lock, and nothing else."""

import ast
import subprocess
import sys

import pytest

from fedrepro import algorithms
from fedrepro.experiments import problem as problems
from fedrepro.pipeline import code
from fedrepro.pipeline.documents import ConfigError
from fedrepro.pipeline.plan import Plan


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules and a script, taken for ours; and a function that hashes afresh."""
    root = tmp_path / "project"
    folder = root / "fedrepro_probe"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "a.py").write_text("from fedrepro_probe import b\n")
    (folder / "b.py").write_text("x = 1\n")
    (folder / "apart.py").write_text("x = 1\n")
    (root / "workflow/scripts").mkdir(parents=True)
    (root / "workflow/scripts/go.py").write_text("def main():\n    from fedrepro_probe.a import b\n")
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.setattr(code, "PACKAGE", "fedrepro_probe")
    monkeypatch.setattr(code, "ROOT", root)

    def forget():
        for cached in (code._imports, code._file, code._content, code.code_hash, code.lock):
            cached.cache_clear()

    def fresh(*modules):
        forget()
        return code.code_hash(*modules)

    yield root, fresh
    forget()
    for name in [n for n in sys.modules if n.partition(".")[0] == "fedrepro_probe"]:
        del sys.modules[name]


@pytest.mark.parametrize("start", ["fedrepro_probe.a", "workflow/scripts/go.py"])
def test_the_hash_follows_imports_and_stops_there(package, start):
    root, fresh = package
    before = fresh(start)
    assert fresh(start) == before
    (root / "fedrepro_probe/apart.py").write_text("x = 2\n")
    assert fresh(start) == before
    (root / "fedrepro_probe/b.py").write_text("x = 2\n")
    assert fresh(start) != before


def test_relative_imports_count(package):
    root, fresh = package
    for text in ("from .b import x\n", "from . import b\n", "def f():\n    from ..fedrepro_probe import b\n"):
        (root / "fedrepro_probe/a.py").write_text(text)
        (root / "fedrepro_probe/b.py").write_text("x = 1\n")
        before = fresh("fedrepro_probe.a")
        (root / "fedrepro_probe/b.py").write_text("x = 2\n")
        assert fresh("fedrepro_probe.a") != before, text


@pytest.mark.parametrize("text", [b"x = '\xe9'\n", b"x = 1\0\n", b"def f(:\n"])
def test_source_that_is_none_is_named(package, text):
    root, fresh = package
    (root / "fedrepro_probe/b.py").write_bytes(text)
    with pytest.raises(ConfigError, match=r"b\.py.*: not valid Python"):
        fresh("fedrepro_probe.a")


def test_the_script_itself_counts(package):
    root, fresh = package
    before = fresh("workflow/scripts/go.py")
    script = root / "workflow/scripts/go.py"
    script.write_text(script.read_text() + "# changed\n")
    assert fresh("workflow/scripts/go.py") != before


def test_a_file_that_a_module_names_beside_it_counts_with_it(package):
    root, fresh = package
    (root / "fedrepro_probe/b.py").write_text('text = here / "look.css"\n')
    before, other = fresh("fedrepro_probe.a"), fresh("fedrepro_probe.apart")
    (root / "fedrepro_probe/look.css").write_text("p {}")
    assert fresh("fedrepro_probe.a") != before
    assert fresh("fedrepro_probe.apart") == other


def test_the_lock_counts_for_everything(package):
    root, fresh = package
    before = fresh("fedrepro_probe.apart")
    (root / "envs").mkdir()
    (root / "envs/requirements.lock").write_text("numpy==3\n")
    assert fresh("fedrepro_probe.apart") != before


def test_imports_are_read_without_running_anything():
    source = "import numpy\nimport fedrepro.cli\nfrom fedrepro.maths import wide, no_such\nif 0:\n    from fedrepro import cli\n"
    source += "try:\n    pass\nexcept OSError:\n    match 0:\n        case 0:\n            import fedrepro.datasets\n"
    assert code.imported(ast.parse(source)) == {
        "fedrepro.cli", "fedrepro.datasets", "fedrepro.maths", "fedrepro.maths.wide",
    }  # fmt: skip


def test_nothing_is_imported_to_be_hashed():
    words = (
        "import sys; from fedrepro.pipeline import code; code.code_hash('fedrepro.papers.fco.figures.paper')"
    )
    words += "; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", words]).returncode == 0


@pytest.fixture(scope="module")
def plan():
    return Plan({"scale": "smoke"}, code.ROOT)


def reached(*start: str) -> set[str]:
    """The modules of ours behind a script and modules."""
    todo, seen = list(start), set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += code._imports(name)[1]
    return seen


@pytest.mark.parametrize("script", ["run_block", "solve_reference", "fetch", "partition", "pca"])
def test_what_computes_depends_on_no_configuration_page_or_picture(script):
    seen = reached(f"workflow/scripts/{script}.py")
    wrong = [
        m for m in seen
        if m.startswith(("fedrepro.reporting", "fedrepro.papers", "fedrepro.cli"))
        or m in ("fedrepro.pipeline.config", "fedrepro.pipeline.plan", "fedrepro.pipeline.documents")
    ]  # fmt: skip
    assert wrong == []


def test_a_block_depends_on_its_own_algorithm_and_paper_only(plan):
    for block in plan.blocks.values():
        problem = problems.get(block.experiment.problem).__module__
        hashed = reached("workflow/scripts/run_block.py", problem, algorithms.get(block.algorithm).__module__)
        papers = {m.split(".")[2] for m in hashed if m.startswith("fedrepro.papers.")}
        assert papers == {block.experiment.paper}
        assert f"fedrepro.algorithms.{block.algorithm}" in hashed
