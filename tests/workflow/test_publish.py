"""Publishing a finished run: what docs/ holds, and what it says of what is missing."""

import shutil
import subprocess
import sys
import tempfile

import pytest

import published
from fedrepro.pipeline.config import ROOT, load
from fedrepro.reporting.page import between
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
    overview = (after / "docs/notebooks/overview.ipynb").read_text()
    for paper in manifest["papers"]:
        assert papers[paper].raw["title"] in overview
    assert (
        "results/smoke" in overview and str(after) not in overview and tempfile.gettempdir() not in overview
    )
    assert (after / "docs/api.md").read_text() == "made of the code" and not (after / "docs/old.md").exists()
    assert f"<b>{name}</b>" in (after / "docs/index.html").read_text().split("<main>")[0]

    table = after / "docs/claims.csv"
    table.write_text(table.read_text().replace("reproduced", "depends", 1))
    with pytest.raises(AssertionError, match="not what was published"):
        published.check(after / "docs", after)


def test_what_is_no_longer_at_hand_stays_as_it_was_published(after):
    shutil.copy(ROOT / "README.md", after / "README.md")
    assert publish(after).returncode == 0
    manifest = published.check(after / "docs", after)
    assert manifest["older"] == {}
    record = "papers/fedsplit.json.xz"
    kept = {n: h for n, h in manifest["files"].items() if "fedsplit" in n}
    assert record in kept and "notebooks/fedsplit.ipynb" in kept
    page = (after / "docs/index.html").read_text()

    for folder in (after / "results/smoke/traces").glob("fedsplit_*"):
        shutil.rmtree(folder)
    done = publish(after)
    assert done.returncode == 0, done.stderr[-2000:]
    again = published.check(after / "docs", after)
    assert again["papers"] == manifest["papers"] and again["older"] == {}
    assert {n: again["files"][n] for n in kept} == kept
    for begin, end in (
        ("<!-- fedsplit -->", "<!-- end of fedsplit -->"),
        ('id="numbers-fedsplit_fig1">', "</script>"),
    ):
        shown = between(page, begin, end)
        assert len(shown) > 500 and shown == between((after / "docs/index.html").read_text(), begin, end)
    claims = [(after / "docs/claims.csv").read_text().splitlines(), manifest["files"]["claims.csv"]]
    assert again["files"]["claims.csv"] == claims[1] and sum(",fedsplit," in row for row in claims[0])

    code = after / "src/fedrepro/papers/fedsplit/problems/synthetic.py"
    code.write_text(code.read_text() + "\n# changed since\n")
    assert publish(after).returncode == 0
    older = published.check(after / "docs", after)["older"]
    assert older == {"fedsplit": manifest["made"]["fedsplit"]["date"]}
    assert "may differ: <b>fedsplit</b>" in (after / "docs/index.html").read_text()

    path = after / "docs" / record
    path.write_bytes(path.read_bytes()[:-100])
    done = publish(after)
    assert (
        done.returncode != 0 and f"docs/{record} is damaged" in done.stderr and "Traceback" not in done.stderr
    )
