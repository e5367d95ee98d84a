"""A run whose processes are all killed at once is finished by the same command, and nothing tells it from another."""

import shutil

import pytest
from bits import differences
from fault_runs import FIGURE, PLACE, SMOKE, THREADS, killed, moments, run

from fedrepro.datasets.files import TEMPORARY, check_whole
from fedrepro.pipeline.config import ROOT, load

pytestmark = pytest.mark.workflow

KILLS = 5  # of every paper
PAPERS = load({"scale": "smoke"}, ROOT).papers
SEES = "the same command goes on; no `--unlock`"


def whole(project) -> None:
    """Nothing half-written lies under its final name."""
    files = [p for p in (project / "results").rglob("*.*") if p.is_file() and "logs" not in p.parts]
    check_whole(p for p in files if not TEMPORARY.fullmatch(p.name))


def finish(project, finished, target: str, **more) -> list[str]:
    """The command alone ends it; what is different from an undisturbed run."""
    done = run(project, "--cores", "2", target, *SMOKE, **more)
    assert "unlock" not in done.stdout + done.stderr
    assert [p for p in (project / "results").rglob(".*") if TEMPORARY.fullmatch(p.name)] == []
    return differences(finished / "results/smoke", project / "results/smoke", part=True)


def test_two_kills_of_a_figure(finished, project, tally):
    for jobs, then in ((0, 4.0), (2, 0.4)):
        assert killed(project, "--cores", "2", FIGURE, *SMOKE, after_jobs=jobs, then=then)
        whole(project)
    assert finish(project, finished, FIGURE) == []
    assert (project / "results/smoke/figures/fedsplit/fig1.svg").exists()
    for _ in range(2):
        tally.add("SIGKILL of all processes, one figure", True, SEES)


@pytest.mark.faults
@pytest.mark.parametrize("paper", PAPERS)
def test_kills_of_a_paper(finished, project, paper, tally):
    """At moments drawn once, and in another environment than the undisturbed run had: neither may change a bit. Should the
    run end before the last kill, its traces go and it continues from there."""
    kills, elsewhere = 0, THREADS | PLACE
    for after, then in moments(paper, 4 * KILLS, 4 * len(PAPERS[paper].blocks)):
        if kills == KILLS:
            break
        words = ("--cores", "2", paper, *SMOKE)
        if killed(project, *words, after_jobs=after, then=then, circumstances=elsewhere):
            kills += 1
            whole(project)
        else:
            shutil.rmtree(project / "results/smoke/traces")
    assert kills == KILLS
    different = finish(project, finished, paper, circumstances=elsewhere)
    for _ in range(kills):
        tally.add(f"SIGKILL of all processes, {paper}", not different, SEES)
    elsewhere = f"other numbers of threads, locale, time zone and hash seed: {paper}"
    tally.add(elsewhere, not different, "nothing: the same bytes")
    assert different == []
    assert len(list((project / "results/smoke/traces").rglob("*.parquet"))) == len(PAPERS[paper].blocks)
