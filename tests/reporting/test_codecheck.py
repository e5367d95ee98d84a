"""codecheck.yml says what the configuration says and what docs/ has."""

import json

import pytest
import yaml

from fedrepro.pipeline import publish
from fedrepro.pipeline.config import ROOT, load
from fedrepro.pipeline.plan import Plan
from fedrepro.reporting import codecheck

LISTED = [entry["file"] for entry in yaml.safe_load((ROOT / "codecheck.yml").read_text())["manifest"]]


def test_the_manifest_is_current():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    wanted = codecheck.text(load({"scale": "paper"}, ROOT).papers, citation)
    assert (ROOT / "codecheck.yml").read_text() == wanted, "renew it with `fedrepro codecheck`"


def test_rules_make_every_file_of_the_manifest_and_every_figure_is_on_it(monkeypatch):
    monkeypatch.chdir(ROOT)
    plan = Plan({"scale": "paper"})
    assert set(LISTED) <= {path.as_posix() for path in plan.made()} and len(LISTED) == len(set(LISTED))
    drawn = {file for paper in plan.papers for file in plan.all_figures(paper) if file.endswith(".svg")}
    assert drawn == {file for file in LISTED if file.endswith(".svg")}


def test_what_is_published_of_it_lies_in_docs_under_the_same_names():
    assert set(codecheck.TABLES) == set(publish.TABLES)
    if not (ROOT / "docs/manifest.json").exists():
        pytest.skip("nothing is published")
    published = json.loads((ROOT / "docs/manifest.json").read_text())
    if published["scale"] != "paper":
        pytest.skip("what is published is not of scale paper")
    here = set(published["files"])
    listed = {file.removeprefix(f"{codecheck.FOLDER}/") for file in LISTED}
    assert {
        file for file in here if file.startswith(("figures/", "tables/")) or file == "claims.csv"
    } <= listed
