"""Files that people write, or that something cuts short: whatever is in them, one sentence comes out and never a traceback."""

import json
import random
import shutil
import sys

import pytest

from fedrepro import algorithms, cli
from fedrepro.pipeline.config import ROOT
from fedrepro.pipeline.documents import ConfigError
from fedrepro.pipeline.keys import Keys
from fedrepro.pipeline.plan import Plan

ONE_PAPER = {"scale": "smoke", "papers": ["fedsplit"]}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The configuration and the notebooks, in a folder of its own that commands are given in."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    (tmp_path / "results").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


ALGORITHMS = {
    b"def mine(:\n": "mine.py, line 1: not valid Python (",
    b"x = caf\xe9\n": "mine.py",
    b"x = 1\0\n": "mine.py",
    b"import nothing_of_that_name\n": "algorithms/mine.py cannot be read (ModuleNotFoundError: No module named",
    b"undefined\n": "algorithms/mine.py cannot be read (NameError: name 'undefined' is not defined)",
    b"": "algorithms/mine.py must define a function 'mine'",
    b"def mine(clients):\n    yield\n": "decorated with @algorithm(needs={",
    b"mine = 3\n": "algorithms/mine.py must define a function 'mine'",
    b"raise SystemExit\n": "algorithms/mine.py cannot be read (SystemExit",
}


@pytest.mark.parametrize("text", ALGORITHMS)
def test_an_algorithm_of_ones_own_with_a_mistake(project, monkeypatch, text):
    (project / "own").mkdir()
    (project / "own/mine.py").write_bytes(text)
    monkeypatch.setattr(algorithms, "__path__", [*algorithms.__path__, str(project / "own")])
    monkeypatch.delitem(sys.modules, "fedrepro.algorithms.mine", raising=False)
    path = project / "config/papers/fedsplit.yaml"
    path.write_text(path.read_text().replace("    algorithms:\n", "    algorithms:\n      mine: {}\n", 1))
    with pytest.raises(ConfigError) as error:
        Plan(ONE_PAPER, project)
    assert "fedsplit.yaml: experiments." in str(error.value) and ".algorithms.mine: " in str(error.value)
    assert ALGORITHMS[text] in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"3", b'{"cells": 3}', b'{"cells": [{}]}', b'{"cells": [{"cell_type": "code"}]}', b"\xff"]
)  # fmt: skip
def test_a_notebook_that_is_none(project, text):
    plan = Plan(ONE_PAPER, project)
    (project / "notebooks/fedsplit.ipynb").write_bytes(text)
    with pytest.raises(ConfigError, match=r"notebooks/fedsplit\.ipynb: not a notebook; restore it"):
        plan.expect()
    (project / "notebooks/fedsplit.ipynb").unlink()
    with pytest.raises(ConfigError, match=r"fedsplit\.ipynb: cannot be read \(No such file"):
        plan.expect()


def test_a_notebook_with_commands_of_jupyters_own(project):
    cells = ["%matplotlib inline\nimport fedrepro.cli", "from fedrepro.maths import wide", "def f(:"]
    source = {"cells": [{"cell_type": "code", "source": [cell]} for cell in cells]}
    (project / "notebooks/fedsplit.ipynb").write_text(json.dumps(source))
    assert Plan(ONE_PAPER, project).notebook_code("fedsplit")


def test_damaged_outputs_under_another_key_are_made_again(project):
    """A key that is new, and an output that cannot be asked for its own: nothing vouches for it."""
    keys = Keys(project / "results/smoke")
    plan = Plan(ONE_PAPER, project)
    block = plan.config.blocks[0]
    trace, reference = project / plan.trace(block), project / plan.reference(block.experiment.name)
    for path, text in ((trace, b"PAR1"), (trace, b"PAR1 not at all PAR1"), (reference, b"PK"), (trace, b"")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    plan.expect()
    key = keys.path(f"traces/{block.experiment.name}/{block.name}")
    assert key.read_text() == plan.block_key(block) and key.stat().st_mtime >= trace.stat().st_mtime
    key.write_bytes(b"\xff\xfe")
    plan.expect()
    assert key.read_text() == plan.block_key(block)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"x" * 100 + b"PAR1", b"not at all"])
def test_the_command_line_over_damaged_results(project, capsys, content):
    block = Plan(ONE_PAPER, project).config.blocks[0]
    trace = project / f"results/smoke/traces/{block.experiment.name}/{block.name}.parquet"
    tables = project / "results/smoke/tables"
    for path, text in ((trace, content), (tables / "fedsplit_claims.csv", content + b"\nx\ny\n")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    shutil.copytree(project / "results/smoke", project / "results/other")
    for words in (
        ["status", "--blocks"],
        ["claims"],
        ["diff", "results/smoke", "results/other"],
        ["diff", "results", "nowhere"],
    ):
        assert cli.main(["--scale", "smoke", *words]) == 1
        said = capsys.readouterr().err
        assert said.startswith("fedrepro: ") and said.count("\n") == 1, said


# (command, file, what is in it, words of the refusal)
BESIDE = [
    ("codecheck", "CITATION.cff", b"\xff", "CITATION.cff, line 1: not UTF-8"),
    ("codecheck", "CITATION.cff", b"title: [", "CITATION.cff, line 2: not valid YAML"),
    ("codecheck", "CITATION.cff", b"title: x\n", "CITATION.cff: top level: the key"),
    ("codecheck", "CITATION.cff", b"title: x\nversion: 1\nlicense: y\nauthors: [z]\n", "authors[0]: 'z' is not a mapping"),
    ("codecheck", "CITATION.cff", None, "CITATION.cff: no such file"),
    ("fidelity", "config/README.md", b"\xff", "config/README.md, line 1: not UTF-8"),
    ("fidelity", "config/README.md", b"hello", "config/README.md has no place for the table"),
    ("publish", "README.md", b"\xff", "README.md, line 1: not UTF-8"),
    ("publish", "docs/manifest.json", b"\xff", "docs/manifest.json is damaged: git checkout"),
    ("publish", "docs/manifest.json", b"[]", "docs/manifest.json is damaged: git checkout"),
    ("publish", "docs/evidence.parquet", b"PAR1", "docs/evidence.parquet is damaged: git checkout"),
    ("publish", "docs/tables/fedsplit_slips.csv", b"", "docs/tables/fedsplit_slips.csv is damaged: git checkout"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "name", "content", "words"), BESIDE)
def test_files_beside_the_configuration(project, capsys, command, name, content, words):
    for part in ("README.md", "CITATION.cff"):
        shutil.copy(ROOT / part, project / part)
    if "fedsplit" not in json.loads((ROOT / "docs/manifest.json").read_text())["papers"]:
        pytest.skip("nothing is published that could be spoilt")
    shutil.copytree(ROOT / "docs", project / "docs")
    (project / name).unlink() if content is None else (project / name).write_bytes(content)
    before = {path: path.read_bytes() for path in (project / "docs").rglob("*.*")}
    assert cli.main([command]) == 1
    said = capsys.readouterr().err
    assert words in said and said.startswith("fedrepro: ") and said.count("\n") == 1
    assert {path: path.read_bytes() for path in (project / "docs").rglob("*.*")} == before


@pytest.mark.parametrize("name", ["config.yaml", "datasets.yaml", "papers/fedsplit.yaml"])
def test_a_text_cut_short_or_overwritten_anywhere(project, name):
    draw = random.Random(name)
    whole = (ROOT / "config" / name).read_bytes()
    for _ in range(12):
        at, more = draw.randrange(len(whole)), draw.randbytes(draw.choice((0, 1, 3)))
        spoilt = whole[:at] + more + (whole[at + len(more) :] if more else b"")
        (project / "config" / name).write_bytes(spoilt)
        try:
            Plan(ONE_PAPER, project)
        except ConfigError as error:
            assert "\n" not in str(error) and len(str(error)) < 600
