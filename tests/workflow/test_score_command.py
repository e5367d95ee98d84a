"""What README.md shows: a file anywhere, one command, one page; nothing in the tree is touched."""

import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from fedrepro.experiments.results import Results
from fedrepro.papers.arena import readings, standings
from fedrepro.pipeline.config import ROOT
from project_copy import environment

pytestmark = pytest.mark.workflow


def shown() -> str:
    """The algorithm in README.md."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]


def scored(project, file, *words):
    words = [sys.executable, "-m", "fedrepro.cli", "--scale", "smoke", "score", str(file), *words]
    return subprocess.run(words, cwd=project, env=environment(project), capture_output=True, text=True)


def test_a_method_of_ones_own_in_the_arena(after, tmp_path):
    shutil.copytree(ROOT / "tests", after / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    before = {p: p.stat().st_mtime_ns for p in (after / "results").rglob("*") if p.is_file()}
    (tmp_path / "mine.py").write_text(shown() + '\n\nRANGES = {"step": ["0.1/L*", "2/L*"]}\n')
    done = scored(after, tmp_path / "mine.py", "--output", str(tmp_path / "mine.html"))
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "mine.html").read_text()
    assert "mine in the arena" in page and "<tr class=own>" in page and page.count("<svg") == 5
    assert "mine" in re.search(r'"names": \[(.*?)\]', page)[1]  # in the sliders too
    assert not re.search(r"(src|href)=['\"]https?:", page)
    assert {p: p.stat().st_mtime_ns for p in (after / "results").rglob("*") if p.is_file()} == before
    assert not (after / "src/fedrepro/algorithms/mine.py").exists()


def test_where_the_arena_was_not_run_the_published_standings_do(after, tmp_path):
    results = Results(after / "results/smoke")
    whole = readings.costs(results.traces(*readings.EVERYTHING))
    published = after / "docs" / standings.FILE
    published.parent.mkdir(exist_ok=True)
    standings.write(results, published)
    opened = standings.opened(published, tmp_path / "opened")
    pd.testing.assert_frame_equal(readings.costs(opened.traces(*readings.EVERYTHING)), whole)
    for experiment in readings.EVERYTHING:
        shutil.rmtree(after / "results/smoke/traces" / experiment)
    (tmp_path / "fedgd.py").write_text(
        shown()
    )  # a name that is taken: looked at when the standings have been read
    done = scored(after, tmp_path / "fedgd.py")
    assert done.returncode == 1 and "there is an algorithm 'fedgd' already" in done.stderr

    with (after / "src/fedrepro/papers/arena/contest.py").open("a") as code:
        code.write("\n# other code\n")
    done = scored(after, tmp_path / "fedgd.py")
    assert done.returncode == 1 and "other code than this" in done.stderr and "Traceback" not in done.stderr
    assert "snakemake --cores 2 arena --config scale=smoke" in done.stderr

    published.write_bytes(published.read_bytes()[:1000])
    done = scored(after, tmp_path / "fedgd.py")
    assert (
        done.returncode == 1
        and f"{standings.FILE} is damaged" in done.stderr
        and "Traceback" not in done.stderr
    )
