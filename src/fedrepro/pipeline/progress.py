"""How far a run is: its jobs, what runs, what failed and why, and the time left by what the same jobs took before.

Every run keeps a journal, `.snakemake/fedrepro-run.jsonl`: its jobs in the first line, then a line for each that begins or
ends. The run holds a lock on it while it lives, so that `fedrepro status` can tell a run at work from one that was killed.
`snakemake --logger fedrepro` shows the same in one line.
"""

import contextlib
import fcntl
import json
import logging
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, median

from fedrepro.pipeline.requests import recorded

PLACE = Path(".snakemake/fedrepro-run.jsonl")
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
TRUST = 10.0  # seconds of work that have to differ from the recorded ones before the estimate believes it
ROOM = 30  # columns of a line for what runs
MOST = 20  # jobs of one state that `fedrepro status` names


@dataclass
class Job:
    """One job of a run. What it takes is counted inside the job; Snakemake's own time with it comes on top."""

    words: str  # what it does, as the rule's message says
    paper: str  # '' where it belongs to none or to all
    log: str
    recorded: float | None = None  # seconds it took the last time
    state: str = WAITING
    begin: float = 0.0
    end: float = 0.0
    took: float = 0.0

    @property
    def kind(self) -> str:
        """Jobs of a kind log into the same folder: blocks, reference, figures, …"""
        return self.log.rpartition("logs/")[2].split("/")[0]


@dataclass
class Run:
    """The jobs of a run by Snakemake's numbers."""

    scale: str = ""
    cores: int = 1
    begin: float = 0.0
    jobs: dict[str, Job] = field(default_factory=dict)
    alive: bool = True

    def of(self, state: str) -> list[Job]:
        return sorted((job for job in self.jobs.values() if job.state == state), key=lambda job: job.begin)

    def event(self, number: str, state: str, at: float, took: float = 0.0) -> None:
        job = self.jobs[number]
        job.state = state
        if state == RUNNING:
            job.begin = at
        else:
            job.end, job.took = at, took

    def left(self, now: float) -> float | None:
        """Seconds that the remaining jobs take on these cores if none waits for another; None while most are unknown.

        A job takes what it took the last time, corrected by how the finished ones compare with theirs; one never seen takes
        the mean of its kind. A run that is over would have its failed jobs to do again.
        """
        done = self.of(DONE)
        pairs = [(job.took, job.recorded) for job in done if job.recorded is not None]
        slower = (TRUST + sum(took for took, _ in pairs)) / (TRUST + sum(last for _, last in pairs))
        lag = max(median([0.0, 0.0, *(job.end - job.begin - job.took for job in done)]), 0.0)
        todo = [job for job in self.jobs.values() if job.state in (WAITING, RUNNING)]
        todo += [] if self.alive else self.of(FAILED)
        kinds: dict[str, list[float]] = {}
        for job in done:
            kinds.setdefault(job.kind, []).append(job.took)
        for job in todo:
            if job.recorded is not None:
                kinds.setdefault(job.kind, []).append(job.recorded * slower)
        means = {kind: fmean(seconds) for kind, seconds in kinds.items()}
        if 2 * sum(job.kind not in means for job in todo) > len(self.jobs):
            return None
        whole = fmean(means.values()) if means else 0.0
        each = [0.0]
        for job in todo:
            last = means.get(job.kind, whole) if job.recorded is None else job.recorded * slower
            gone = now - job.begin if job.state == RUNNING and self.alive else 0.0
            each.append(max(last + lag - gone, 0.0))
        return max(sum(each) / max(self.cores, 1), *each)

    def line(self, now: float, width: int | None = None, over: bool = False) -> str:
        """Jobs, time left, papers and what runs, in one line no longer than `width`. The papers take as much as leaves ROOM
        for what runs, which changes more often."""
        done, failed = self.of(DONE), self.of(FAILED)
        over = over or len(done) + len(failed) == len(self.jobs)
        head = f"{len(done)} of {len(self.jobs)} jobs" + (f", {len(failed)} failed" if failed else "")
        head += f" in {spoken(now - self.begin)}" if over else f", {about(self.left(now))}"
        every = Counter(job.paper for job in self.jobs.values() if job.paper)
        ready = Counter(job.paper for job in done)
        papers = ", ".join(f"{paper} {ready[paper]}/{n}" for paper, n in every.items())
        whole = f"{sum(ready[paper] == n for paper, n in every.items())}/{len(every)} papers"
        heads = [" | ".join(filter(None, (head, part))) for part in (papers, whole if every else "", "")]
        words = [job.words[:1].lower() + job.words[1:] for job in self.of(RUNNING) if not over]
        if width is None:
            return " | ".join(filter(None, (heads[0], "; ".join(words))))
        line = next((one for one in heads if len(one) + (0 if over else ROOM) <= width), head)
        if words:
            more = f" +{len(words) - 1}" if words[1:] else ""
            room = width - len(line) - len(" | ")
            line += " | " + (
                "; ".join(words) if len("; ".join(words)) <= room else cut(words[0], room - len(more)) + more
            )
        return cut(line, width)

    def report(self, now: float) -> list[str]:
        """The sentences of `fedrepro status`."""
        done, running, failed = self.of(DONE), self.of(RUNNING), self.of(FAILED)
        begun = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.begin))
        if self.alive:
            state = f"at work for {spoken(now - self.begin)}"
        elif len(done) == len(self.jobs):
            state = "finished"
        else:
            state = "ended with failed jobs" if failed and not running else "stopped before its end"
        counts = f"{len(done)} of {len(self.jobs)} jobs done, {len(failed)} failed"
        if len(done) < len(self.jobs):
            counts += f", {about(self.left(now))}" + ("" if self.alive else " if it is run again")
        lines = [f"run of {begun} at scale {self.scale}, {state}: {counts}"]
        word = "running for {}: {}" if self.alive else "interrupted: {1}"
        lines += listed([word.format(spoken(now - job.begin), job.words) for job in running])
        return lines + listed([f"failed: {job.words}: {why(job)} ({job.log})" for job in failed])


def listed(lines: list[str]) -> list[str]:
    more = [f"  … and {len(lines) - MOST} more"] if len(lines) > MOST else []
    return [f"  {line}" for line in lines[:MOST]] + more


def cut(words: str, width: int) -> str:
    return words if len(words) <= width else words[: max(width - 1, 0)] + "…"


def spoken(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def about(seconds: float | None) -> str:
    return "time left unknown" if seconds is None else f"about {spoken(max(seconds, 1.0))} left"


def why(job: Job) -> str:
    """The last thing a failed job said."""
    try:
        lines = Path(job.log).read_text(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else "it left no log"


def load(place: Path = PLACE) -> Run | None:
    """The run at work in this folder, or the last one; None where there was none, or nothing that can be read."""
    try:
        with place.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                alive = False
            except BlockingIOError:
                alive = True
            head, *events = file.read().split("\n")
        raw = json.loads(head)
        run = Run(
            **raw | {"jobs": {number: Job(**job) for number, job in raw["jobs"].items()}, "alive": alive}
        )
        for event in events[:-1]:  # what follows the last end of a line was cut short
            run.event(*json.loads(event))
        return run
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


RUN = Run()  # the one of this process


def follow(dag, scale: str, cores: int, papers) -> None:
    """From here on keep RUN and its journal up to date with what Snakemake says of its jobs."""
    from snakemake.logging import logger

    RUN.scale, RUN.cores, RUN.begin = scale, cores, time.time()
    for job in dag.needrun_jobs():
        if not job.rule.norun:  # not a target that only collects
            log = str(job.log[0]) if job.log else ""
            words = str(job.message or job.rule.name)
            RUN.jobs[str(dag.jobid(job))] = Job(words, owner(job, papers), log, last_time(log))
    logger.addHandler(Journal())


def owner(job, papers) -> str:
    """The paper that a job's first output names, where it names one."""
    words = str(next(iter(job.output), "")).replace("_", "/").replace(".", "/").split("/")
    return next((word for word in words if word in papers), "")


def last_time(log: str, since: float = 0.0) -> float | None:
    """The seconds noted beside a log, if they were noted since then."""
    path = Path(log.removesuffix(".log") + ".cost")
    cost = recorded(path)
    return cost[0] if cost and path.stat().st_mtime >= since else None


class Journal(logging.Handler):
    """Notes in RUN and in its file what happens to jobs. A disk that is full costs the journal and not the run."""

    def __init__(self, place: Path = PLACE):
        super().__init__()
        self.file = None
        with contextlib.suppress(OSError):
            self.file = place.open("w", buffering=1)
            fcntl.flock(self.file, fcntl.LOCK_EX)  # at once, but for somebody who looks at this moment
        told = asdict(RUN)
        del told["alive"]
        self.note(told)

    def note(self, what) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self.file:
                self.file.write(json.dumps(what) + "\n")

    def emit(self, record: logging.LogRecord) -> None:
        event, now = str(getattr(record, "event", "")), time.time()
        number = str(getattr(record, "jobid", getattr(record, "job_id", "")))
        job = RUN.jobs.get(number)
        if job is None:
            return
        if event == "job_info":
            self.happened(number, RUNNING, now)
        elif event == "job_finished":
            took = last_time(job.log, job.begin - 1.0)
            self.happened(number, DONE, now, now - job.begin if took is None else took)
        elif event == "job_error" and job.state != FAILED:  # Snakemake tells it again at the end
            self.happened(number, FAILED, now, now - job.begin)

    def happened(self, *event) -> None:
        RUN.event(*event)
        self.note(event)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self.file:
                self.file.close()
        super().close()
