"""A run whose processes are all killed at once is finished by the same command, and nothing tells it from another."""

import random
import shutil

import pytest
from bits import differences
from fault_runs import FIGURE, SMOKE, elsewhere, killed, moments, run

from fedrepro.datasets.files import TEMPORARY, check_whole

pytestmark = pytest.mark.workflow

KILLS = 27
SEES = "the same command goes on; no `--unlock`"


def whole(project) -> None:
    """Nothing half-written lies under its final name. Snakemake marks folders with an empty file."""
    files = [p for p in (project / "results").rglob("*.*") if p.is_file() and "logs" not in p.parts]
    check_whole(p for p in files if not TEMPORARY.fullmatch(p.name) and p.name != ".snakemake_timestamp")


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
def test_kills_of_all_papers(finished, project, tmp_path, tally):
    """One run of everything, killed again and again, every start in other circumstances than the last: neither may change a
    bit. Should it end before the last kill, its figures go and are drawn anew."""
    chance, done = random.Random("kills"), []
    traces = [
        str(path.relative_to(finished)) for path in (finished / "results/smoke/traces").rglob("*.parquet")
    ]
    targets = sorted(traces)
    for after, then in moments(chance, KILLS, len(targets)):
        words, circumstances = elsewhere(chance, tmp_path, targets)
        if not killed(project, *words, after_jobs=after, then=then, circumstances=circumstances):
            shutil.rmtree(project / "results/smoke/figures", ignore_errors=True)
            continue
        whole(project)
        done.append(after)
    words, circumstances = elsewhere(chance, tmp_path, targets)
    run(project, *words, circumstances=circumstances)
    different = differences(finished / "results/smoke", project / "results/smoke")
    for after in done:
        tally.add(
            "SIGKILL of all processes, all papers: " + (BUSY if after else STARTING), not different, SEES
        )
    for _ in done:
        tally.add(CIRCUMSTANCES, not different, "nothing: the same bytes")
    assert different == []
    assert len(done) >= 25


STARTING, BUSY = "while Snakemake starts", "while jobs run"
CIRCUMSTANCES = (
    "every start with other numbers of cores and threads, order of jobs, caches of compiled loops, locale, time zone and "
    "hash seed, in another folder"
)
