"""Publishing a finished run: what docs/ holds, and what it says of what is missing."""

import shutil
import subprocess
import sys

import pytest

import published
from fedrepro.pipeline.config import ROOT, load
from project_copy import environment

pytestmark = pytest.mark.workflow


def publish(project) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "fedrepro.cli", "--scale", "smoke", "publish"]
    return subprocess.run(command, cwd=project, env=environment(project), capture_output=True, text=True)


def test_what_is_there_is_published_and_the_rest_said_to_be_missing(after):
    shutil.copy(ROOT / "README.md", after / "README.md")
    (after / "docs").mkdir(exist_ok=True)
    (after / "docs/api.md").write_text("made of the code")
    (after / "docs/old.md").write_text("of the last time")
    papers = load({"scale": "smoke"}, after).papers
    name = max(papers, key=lambda p: len(papers[p].raw["figures"]))
    next((after / f"results/smoke/figures/{name}").glob("*.svg")).unlink()
    done = publish(after)
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"not published: {name}, 1 of" in done.stdout
    manifest = published.check(after / "docs", after)
    assert list(manifest["missing"]) == [name] and manifest["papers"] == [p for p in papers if p != name]
    assert "notebooks/overview.ipynb" in manifest["files"]
    assert (after / "docs/api.md").read_text() == "made of the code" and not (after / "docs/old.md").exists()
    assert f"<b>{name}</b>" in (after / "docs/index.html").read_text().split("<main>")[0]

    table = after / "docs/claims.csv"
    table.write_text(table.read_text().replace("reproduced", "depends", 1))
    with pytest.raises(AssertionError, match="not what was published"):
        published.check(after / "docs", after)
