"""What README.md shows: a file anywhere, one command, one page; nothing in the tree is touched."""

import re
import shutil
import subprocess
import sys

import pytest

from fedrepro.pipeline.config import ROOT
from project_copy import environment

pytestmark = pytest.mark.workflow


def shown() -> str:
    """The algorithm in README.md."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]


def test_a_method_of_ones_own_in_the_arena(after, tmp_path):
    shutil.copytree(ROOT / "tests", after / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    before = {p: p.stat().st_mtime_ns for p in (after / "results").rglob("*") if p.is_file()}
    (tmp_path / "mine.py").write_text(shown() + '\n\nRANGES = {"step": ["0.1/L*", "2/L*"]}\n')
    words = ["--scale", "smoke", "score", str(tmp_path / "mine.py"), "--output", str(tmp_path / "mine.html")]
    done = subprocess.run(
        [sys.executable, "-m", "fedrepro.cli", *words],
        cwd=after,
        env=environment(after),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "mine.html").read_text()
    assert "mine in the arena" in page and "<tr class=own>" in page and page.count("<svg") == 5
    assert "mine" in re.search(r'"names": \[(.*?)\]', page)[1]  # in the sliders too
    assert not re.search(r"(src|href)=['\"]https?:", page)
    assert {p: p.stat().st_mtime_ns for p in (after / "results").rglob("*") if p.is_file()} == before
    assert not (after / "src/fedrepro/algorithms/mine.py").exists()
