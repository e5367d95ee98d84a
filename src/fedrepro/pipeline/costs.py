"""What the jobs of a run took, and how long the whole would take on another number of cores.

Every job leaves its wall time, CPU time and peak memory beside its log (workflow/scripts/fork.py).
"""

import heapq
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fedrepro.pipeline.plan import Plan
from fedrepro.pipeline.requests import recorded
from fedrepro.reporting.costs import Bill

CORES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Job:
    """One job of a run: whose it is, which file tells its cost, and which jobs come before it."""

    paper: str
    part: str  # the experiment of a reference or block, else the kind of job
    cost: Path
    after: tuple[str, ...] = ()


def jobs(plan: Plan) -> dict[str, Job]:
    """The jobs of a run once its data are decoded, by name."""
    logs, found, joined = Path(plan.results) / "logs", {}, plan.together()
    for name, paper in plan.papers.items():
        experiments: dict[str, list[str]] = {}
        for block in paper.blocks:
            run = block.experiment.name
            solved, ran = f"reference/{run}", f"blocks/{run}" + ("" if run in joined else f"/{block.name}")
            found[solved] = Job(name, run, logs / f"{solved}.cost")
            found[ran] = Job(name, run, logs / f"{ran}.cost", (solved,))
            experiments.setdefault(run, []).append(ran)
        drawn = []
        for figure, entry in paper.raw["figures"].items():
            before = tuple(b for e in entry["experiments"] for b in experiments[f"{name}_{e}"])
            drawn.append(f"figures/{name}/{figure}")
            found[drawn[-1]] = Job(name, "figures", logs / f"{drawn[-1]}.cost", before)
        every = tuple(b for blocks in experiments.values() for b in blocks)
        found[f"claims/{name}"] = Job(name, "claims", logs / f"claims/{name}.cost", every)
        before = (*drawn, f"claims/{name}")
        found[f"notebooks/{name}"] = Job(name, "notebook", logs / f"notebooks/{name}.cost", before)
    return found


def table(plan: Plan) -> pd.DataFrame:
    """A line for every job: paper, part, job and what it took; empty where no cost was recorded."""
    lines = []
    for name, job in jobs(plan).items():
        wall, cpu, memory = recorded(job.cost) or (None,) * 3
        lines.append((job.paper, job.part, name, wall, cpu, memory))
    columns = ["paper", "part", "job", "wall_seconds", "cpu_seconds", "peak_mb"]
    return pd.DataFrame(lines, columns=columns)


def by_part(costs: pd.DataFrame) -> pd.DataFrame:
    """Sums and maxima for every experiment, and for figures, claims and notebook of every paper."""
    groups = costs.groupby(["paper", "part"], sort=False)
    return groups.agg(
        jobs=("job", "size"),
        recorded=("cpu_seconds", "count"),
        cpu_minutes=("cpu_seconds", lambda s: s.sum() / 60),
        longest_minutes=("cpu_seconds", lambda s: s.max() / 60),
        peak_mb=("peak_mb", "max"),
    ).reset_index()


def bill(plan: Plan) -> Bill:
    """What the jobs of a run took, added up, and how long they take on more cores."""
    found = table(plan)
    seconds = dict(zip(found["job"], found["cpu_seconds"].fillna(0.0), strict=True))
    after = {name: one.after for name, one in jobs(plan).items()}
    minutes = {n: makespan(after, seconds, n) / 60 for n in CORES}
    return Bill(by_part(found), minutes, int(found["cpu_seconds"].isna().sum()))


def makespan(after: dict[str, tuple[str, ...]], seconds: dict[str, float], cores: int) -> float:
    """How long jobs take on some cores, each a single thread, when the one with most still behind it goes first."""
    behind: dict[str, float] = {}
    followers: dict[str, list[str]] = {name: [] for name in after}
    for name, before in after.items():
        for other in before:
            followers[other].append(name)

    def remaining(name: str) -> float:
        if name not in behind:
            behind[name] = seconds[name] + max(map(remaining, followers[name]), default=0.0)
        return behind[name]

    waiting = {name: len(before) for name, before in after.items()}
    ready = [(-remaining(name), name) for name, count in waiting.items() if not count]
    heapq.heapify(ready)
    running: list[tuple[float, str]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < cores:
            _, name = heapq.heappop(ready)
            heapq.heappush(running, (now + seconds[name], name))
        now, name = heapq.heappop(running)
        for other in followers[name]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(ready, (-remaining(other), other))
    return now
