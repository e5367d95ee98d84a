"""Publishing a finished run: what docs/ holds, and what it says of what is missing."""

import shutil
import subprocess
import sys

import pytest

import published
from fedrepro.pipeline.config import ROOT
from project_copy import environment

pytestmark = pytest.mark.workflow


def publish(project) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "fedrepro.cli", "--scale", "smoke", "publish"]
    return subprocess.run(command, cwd=project, env=environment(project), capture_output=True, text=True)


def test_a_finished_run_is_published_and_a_damaged_one_is_noticed(after):
    shutil.copy(ROOT / "README.md", after / "README.md")
    done = publish(after)
    assert done.returncode == 0, done.stderr[-2000:]
    manifest = published.check(after / "docs", after)
    assert manifest["missing"] == {} and "overview" in str(list(manifest["files"]))
    table = after / "docs/claims.csv"
    whole = table.read_text()
    table.write_text(whole.replace("reproduced", "depends", 1))
    with pytest.raises(AssertionError, match="not what was published"):
        published.check(after / "docs", after)
    table.write_text(whole)
    # a paper whose figure is not there is left out, and said to be
    name = manifest["papers"][0]
    next((after / f"results/smoke/figures/{name}").glob("*.svg")).unlink()
    done = publish(after)
    assert f"not published: {name}, 1 of" in done.stdout
    manifest = published.check(after / "docs", after)
    assert name in manifest["missing"] and name not in manifest["papers"]
    assert name in (after / "docs/index.html").read_text().split("<main>")[0]
