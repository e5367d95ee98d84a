"""What a run cost, and what it would take on other machines."""

import pytest

from fedrepro.pipeline.costs import jobs, makespan, table
from fedrepro.pipeline.plan import Plan

AFTER = {"solve": (), "a": ("solve",), "b": ("solve",), "c": (), "draw": ("a", "b")}
SECONDS = {"solve": 1.0, "a": 4.0, "b": 2.0, "c": 3.0, "draw": 1.0}


@pytest.mark.parametrize(("cores", "seconds"), [(1, 11.0), (2, 6.0), (3, 6.0), (32, 6.0)])
def test_jobs_wait_for_those_before_them_and_for_a_core(cores, seconds):
    assert makespan(AFTER, SECONDS, cores) == seconds


def test_more_behind_goes_first():
    after = {"short": (), "long": (), "end": ("long",)}
    assert makespan(after, {"short": 1.0, "long": 1.0, "end": 1.0}, 1) == 3.0
    assert makespan(after | {"other": ()}, {"short": 2.0, "long": 1.0, "end": 1.0, "other": 0.0}, 2) == 2.0


def test_every_job_of_the_configuration_is_counted(tmp_path):
    plan = Plan({"scale": "smoke"})
    found = jobs(plan)
    alone = [b for b in plan.config.blocks if b.experiment.name not in plan.together()]
    assert {f"blocks/{b.experiment.name}/{b.name}" for b in alone} <= set(found)
    assert {f"blocks/{name}" for name in plan.together()} <= set(found)
    assert all(before in found for job in found.values() for before in job.after)
    plan.results = str(tmp_path)
    block = next(name for name in found if name.startswith("blocks/"))
    cost = tmp_path / f"logs/{block}.cost"
    cost.parent.mkdir(parents=True)
    cost.write_text("2.5 1.25 300\n")
    counted = table(plan).set_index("job")
    assert counted.loc[block, ["wall_seconds", "cpu_seconds", "peak_mb"]].tolist() == [2.5, 1.25, 300]
    assert counted["cpu_seconds"].isna().sum() == len(found) - 1
