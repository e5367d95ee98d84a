"""The cluster profile through a real Slurm of one node: the same bytes as a local run, and a job that is killed is resumed."""

import os
import subprocess

import pytest
from bits import differences
from fault_runs import run, said

import one_node_slurm as slurm
from project_copy import copy_project, environment

pytestmark = pytest.mark.workflow

PAPERS = os.environ.get("PAPERS", "")  # all of them, unless `make test-slurm PAPERS=fedsplit`
# The profile as the documents have it; a test does not wait as long for what Slurm says.
CLUSTER = (
    *("--profile", "profiles/slurm", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "1", "--seconds-between-status-checks", "2"),
    *("--latency-wait", "10"),
)


def through_slurm(project, *words: str) -> list[dict[str, str]]:
    """Run it all, with the first block that runs killed; the jobs of Slurm."""
    slurm.needed()
    with slurm.cluster() as known:
        command = [*map(str, slurm.SNAKEMAKE), *CLUSTER, *words]
        with (
            said(project).open("w") as out,
            subprocess.Popen(
                command, cwd=project, env=environment(project) | known, stdout=out, stderr=subprocess.STDOUT
            ) as running,
        ):
            try:
                kill_a_block(known, running)
                running.wait()
            finally:
                running.terminate()
        assert running.returncode == 0, said(project).read_text()[-8000:]
        return slurm.jobs(known, "--states=all")


def kill_a_block(known: dict[str, str], running: subprocess.Popen) -> None:
    found: list[str] = []

    def ran() -> bool:
        jobs = slurm.jobs(known, "--states=running")
        found.extend(job["id"] for job in jobs if job["comment"].startswith("rule_block_"))
        return bool(found) or running.poll() is not None

    slurm.wait_until(ran, 3000)
    assert found, "no block ever ran"
    subprocess.run(["scancel", "--full", found[0]], env=known, check=True)


def check_the_retry(jobs: list[dict[str, str]]) -> None:
    """The block that was killed went again, with twice the memory."""
    (killed,) = (job for job in jobs if job["state"] == "CANCELLED")
    (again,) = (job for job in jobs if job["comment"] == killed["comment"] and job is not killed)
    assert again["state"] == "COMPLETED" and megabytes(again) == 2 * megabytes(killed)


def megabytes(job: dict[str, str]) -> float:
    number, unit = float(job["memory"][:-1]), job["memory"][-1]
    return number * {"M": 1, "G": 1024}[unit]


@pytest.mark.slurm
def test_papers_through_slurm_and_a_kill(request, project, tmp_path):
    slurm.needed()
    words = ("--config", "scale=smoke", *((f"papers={PAPERS}",) if PAPERS else ()))
    if PAPERS:
        local = copy_project(tmp_path / "local")
        run(local, "--cores", "2", *words)
    else:
        local = request.getfixturevalue("finished")
    check_the_retry(through_slurm(project, *words))
    assert differences(local / "results/smoke", project / "results/smoke") == []
