"""A run whose processes are all killed at once is finished by the same command, and nothing tells it from another."""

import shutil

import pytest
from bits import differences
from fault_runs import FIGURE, SMOKE, killed, moments, run

from fedrepro.datasets.files import TEMPORARY, check_whole

pytestmark = [pytest.mark.workflow, pytest.mark.faults]  # long: `make test-faults`

KILLS, SEED = 25, 20260
SEES = "the same command goes on; no `--unlock`"


def whole(project) -> None:
    """Nothing half-written lies under its final name."""
    files = [p for p in (project / "results").rglob("*.*") if p.is_file() and "logs" not in p.parts]
    check_whole(p for p in files if not TEMPORARY.fullmatch(p.name))


def leftovers(project) -> list:
    return [p for p in (project / "results").rglob(".*") if TEMPORARY.fullmatch(p.name)]


def test_two_kills_of_a_figure(figure, project, tally):
    for jobs, then in ((0, 4.0), (2, 0.4)):
        assert killed(project, "--cores", "2", FIGURE, *SMOKE, after_jobs=jobs, then=then)
        whole(project)
    done = run(project, "--cores", "2", FIGURE, *SMOKE)
    assert "unlock" not in done.stdout + done.stderr
    assert leftovers(project) == []
    assert differences(figure / "results/smoke", project / "results/smoke") == []
    assert "Nothing to be done" in run(project, "--cores", "1", FIGURE, *SMOKE).stderr
    tally.add("SIGKILL of all processes, one figure", True, SEES)


@pytest.mark.faults
def test_many_kills_of_all_papers(undisturbed, project, tally):
    """At least KILLS, at moments drawn once; should the run end before, what has been drawn from traces goes and it
    continues from there."""
    jobs = len(list((undisturbed / ".snakemake/metadata").iterdir()))
    kills = 0
    for after, then in moments(SEED, 4 * KILLS, 4 * jobs):
        if kills == KILLS:
            break
        if killed(project, "--cores", "2", *SMOKE, after_jobs=after, then=then):
            kills += 1
            whole(project)
        else:
            shutil.rmtree(project / "results/smoke/traces")
    assert kills == KILLS
    done = run(project, "--cores", "2", *SMOKE)
    assert "unlock" not in done.stdout + done.stderr
    assert leftovers(project) == []
    different = differences(undisturbed / "results/smoke", project / "results/smoke")
    for _ in range(kills):
        tally.add("SIGKILL of all processes, five papers", not different, SEES)
    assert different == []
