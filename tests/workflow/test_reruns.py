"""What runs again after a change, and what does not: all by dry runs over a finished project."""

import pytest

from dry_runs import append, blocks, edit, papers, pending, rules
from fedrepro.pipeline.config import ROOT, load

pytestmark = pytest.mark.workflow
PAPERS = list(load({"scale": "smoke"}, ROOT).papers)
COMPUTED = {"decode", "pca", "partition", "reference", "block"}  # rules whose jobs take long
GATHERED = {"all_claims", "overview", "page", "costs"}  # rules that read all papers


def one_of_them(name: str) -> list:
    """All papers, of which the others are tried by `make test-faults` alone."""
    return [paper if paper == name else pytest.param(paper, marks=pytest.mark.faults) for paper in PAPERS]


def test_nothing_changed_nothing_runs(after):
    assert pending(after) == {}


def test_editing_an_algorithm_reruns_its_blocks_only(after):
    append(after / "src/fedrepro/algorithms/fedprox_limit.py")
    found = pending(after)
    assert blocks(found) == ["fedsplit_fig1/fedprox_limit.parquet"]
    assert papers(found, PAPERS) == {"fedsplit"}


def test_changing_a_parameter_reruns_what_uses_it(after):
    edit(after / "config/papers/fedsplit.yaml", "grid: [exact, 10]", "grid: [exact, 9]")
    found = pending(after)
    assert blocks(found) == ["fedsplit_slips/fedsplit.parquet"]
    assert "reference" not in rules(found)


def test_the_wording_of_the_configurations_errors_reruns_nothing_that_computes(after):
    edit(after / "src/fedrepro/pipeline/config.py", "no paper '", "there is no paper '")
    assert rules(pending(after)).isdisjoint(COMPUTED)


def test_the_script_of_a_block_reruns_every_block_and_nothing_before(after):
    append(after / "workflow/scripts/run_block.py")
    found = pending(after)
    everything = load({"scale": "smoke"}, after).blocks
    assert blocks(found) == sorted(f"{b.experiment.name}/{b.name}.parquet" for b in everything)
    assert rules(found).isdisjoint(COMPUTED - {"block"})


def test_other_versions_of_the_packages_rerun_all_that_computes(after):
    append(after / "envs/requirements.lock", "another==1.0\n")
    found = pending(after)
    assert rules(found) >= COMPUTED
    assert len(blocks(found)) == len(load({"scale": "smoke"}, after).blocks)


def test_the_style_of_the_page_reruns_the_page_alone(after):
    append(after / "src/fedrepro/reporting/page.css", "\np { margin: 0 }\n")
    assert pending(after) == {"results/smoke/report/index.html": "page"}


def test_a_colour_redraws_the_figures_and_judges_nothing(after):
    append(after / "src/fedrepro/reporting/style.py")
    found = pending(after)
    assert "figure" in rules(found)
    assert rules(found).isdisjoint(COMPUTED | {"claims", "all_claims"})


def sources(project, paper: str, kind: str) -> list:
    """The modules in which a paper keeps its figures or claims."""
    top = project / "src/fedrepro/papers" / paper
    found = [top / f"{kind}.py"] if (top / f"{kind}.py").exists() else sorted((top / kind).glob("[!_]*.py"))
    assert found
    return found


@pytest.mark.parametrize("paper", one_of_them("fedsplit"))
def test_a_papers_figures_concern_that_paper_alone(after, paper):
    for path in sources(after, paper, "figures"):
        append(path)
    found = pending(after)
    assert {name for name, rule in found.items() if rule == "figure"} == {
        f"results/smoke/figures/{paper}/{figure}.{kind}"
        for figure in load({"scale": "smoke"}, after).papers[paper].raw["figures"]
        for kind in ("svg", "png")
    }
    assert papers(found, PAPERS) == {paper}
    assert rules(found) <= {"figure", "notebook", "page", "costs"}


@pytest.mark.parametrize("paper", one_of_them("hyfdca"))
def test_a_papers_claims_concern_that_paper_alone(after, paper):
    for path in sources(after, paper, "claims"):
        append(path)
    found = pending(after)
    assert f"results/smoke/tables/{paper}_claims.csv" in found
    assert papers(found, PAPERS) == {paper}
    assert rules(found) <= {"claims", "notebook"} | GATHERED


@pytest.mark.parametrize("paper", one_of_them("shed"))
def test_a_papers_problems_concern_that_paper_alone(after, paper):
    for path in sources(after, paper, "problems"):
        append(path)
    found = pending(after)
    wanted = [b for b in load({"scale": "smoke"}, after).blocks if b.experiment.paper == paper]
    assert blocks(found) == sorted(f"{b.experiment.name}/{b.name}.parquet" for b in wanted)
    assert papers(found, PAPERS) == {paper}
    assert rules(found).isdisjoint({"decode", "pca", "partition"})
