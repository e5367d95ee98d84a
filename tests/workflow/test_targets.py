"""A target plans the jobs of its own paper and no others."""

import pytest

from dry_runs import papers, pending, rules
from fedrepro.pipeline.config import ROOT, load
from fedrepro.pipeline.data_plan import DataPlan
from project_copy import copy_project

pytestmark = pytest.mark.workflow
CONFIG = load({"scale": "smoke"}, ROOT)
PAPERS = list(CONFIG.papers)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A fresh copy for dry runs."""
    return copy_project(tmp_path_factory.mktemp("untouched") / "project")


def datasets_of(paper: str) -> set[str]:
    """What its experiments read; those that no experiment of this scale needs are shown with its clients."""
    raw = CONFIG.papers[paper].raw
    wanted = {b.experiment.dataset for b in CONFIG.papers[paper].blocks} - {"synthetic"}
    wanted |= {name for b in CONFIG.papers[paper].blocks for name in DataPlan(CONFIG).named_by(b.experiment)}
    return wanted | {entry["dataset"] for entry in raw.get("partitions", {}).values()}


def decoded(found) -> set[str]:
    return {path.split("/")[2] for path, rule in found.items() if rule == "decode"}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper(untouched, paper):
    found = pending(untouched, paper)
    assert papers(found, PAPERS) == {paper}
    assert decoded(found) == datasets_of(paper)
    traces = [path for path, rule in found.items() if rule == "block"]
    assert len(traces) == len(CONFIG.papers[paper].blocks)
    assert {"reference", "figure", "claims", "notebook", "hyperparameters"} <= rules(found)
    assert {"page", "all_claims"}.isdisjoint(rules(found))


@pytest.mark.parametrize("paper", PAPERS)
def test_a_notebook(untouched, paper):
    found = pending(untouched, f"results/smoke/notebooks/{paper}.html")
    assert papers(found, PAPERS) == {paper}
    assert decoded(found) <= datasets_of(paper)
    assert [path for path, rule in found.items() if rule == "notebook" and path.endswith(".html")] == [
        f"results/smoke/notebooks/{paper}.html"
    ]
    assert "page" not in rules(found)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_figure(untouched, paper):
    raw = CONFIG.papers[paper].raw
    figure, entry = next(iter(raw["figures"].items()))
    found = pending(untouched, f"{paper}_{figure}")
    drawn = {path for path, rule in found.items() if rule == "figure"}
    assert {f"results/smoke/figures/{paper}/{figure}.{kind}" for kind in ("svg", "png")} <= drawn
    assert papers(found, PAPERS) == {paper}
    experiments = {path.split("/")[3] for path, rule in found.items() if rule == "block"}
    assert experiments == {f"{paper}_{e}" for e in entry["experiments"]}
    assert rules(found).isdisjoint({"claims", "notebook", "page"})
