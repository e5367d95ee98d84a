"""Run cells: pull an algorithm one round at a time, measure with the clock stopped, record, stop."""

import base64
import sys
import time
from copy import copy
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from fedrepro import algorithms, problems, provenance, reference
from fedrepro.config import Block
from fedrepro.trace import Trace, write

BLOW_UP = 1e8  # a cell whose first measure grows this far above its start has diverged
EVERY_ROUND_UNTIL = 1000  # later rounds are recorded 1 % apart


def recorded(round: int, previous: int) -> bool:
    return round <= EVERY_ROUND_UNTIL or round >= previous * 1.01


def run_cell(
    function, problem, ref: dict, params: dict, stop: dict, measures: tuple[str, ...], tick=None
) -> tuple[Trace, str]:
    """One algorithm on one setting and seed: its trace and its status, done, budget or diverged."""
    clients = problem.clients(ref)
    if not function.needs <= clients.offers():
        lacking = ", ".join(sorted(function.needs - clients.offers()))
        raise LookupError(f"{function.__name__} needs the oracle {lacking}, which these clients do not offer")
    meters = {name: problem.measure(name, ref) for name in measures}
    trace = Trace(measures, tuple(clients.ledger.row()))
    clock, previous, status = 0.0, 0, "done"
    x = clients.start
    found = {name: meter(x) for name, meter in meters.items()}
    trace.add(round=0, seconds=clock, **found, **clients.ledger.row())
    target, first = stop.get("below"), abs(found[measures[0]])
    if isinstance(target, str):
        target = params[target]  # the name of a hyper-parameter: each cell has its own target
    rounds = function(clients, **params)
    with np.errstate(over="ignore", invalid="ignore"):
        for round in range(1, stop["rounds"] + 1):
            begin = time.perf_counter()
            try:
                x = next(rounds)
            except (ArithmeticError, np.linalg.LinAlgError) as error:
                status = "diverged"  # a local solve broke down: the points up to here stand
                print(f"{function.__name__} broke down in round {round}: {error}", file=sys.stderr)
                break
            clock += time.perf_counter() - begin
            if tick:
                tick(round, stop["rounds"])
            if round % stop.get("every", 1) and round < stop["rounds"]:
                continue
            found = {name: meter(x) for name, meter in meters.items()}
            value = found[measures[0]]
            if not np.isfinite(value) or abs(value) > BLOW_UP * max(first, 1e-300):
                status = "diverged"
            reached = target is not None and found[stop.get("metric", measures[0])] <= target
            over = status == "diverged" or reached or round == stop["rounds"]
            if over or recorded(round, previous):
                trace.add(round=round, seconds=clock, **found, **clients.ledger.row())
                previous = round
            if over:
                break
        else:
            reached = False
    if status == "done" and target is not None and not reached:
        status = "budget"
    trace.point, trace.params = x, params
    return trace, status


class Progress:
    """A line on the terminal now and then, so that long work is seen to move."""

    def __init__(self, what: str, cells: int, every: float = 15.0):
        self.what, self.cells, self.every = what, cells, every
        self.cell, self.spoken = 0, time.monotonic()

    def round(self, round: int, rounds: int) -> None:
        now = time.monotonic()
        if now - self.spoken > self.every:
            self.spoken = now
            place = f"cell {self.cell + 1} of {self.cells}, round {round:,} of at most {rounds:,}"
            print(f"{self.what}: {place}", file=sys.stderr, flush=True)


def load_problem(block: Block, setting: dict, seed: int, data: problems.Data | None):
    return problems.get(block.problem)(setting, seed, data)


def run_block(block: Block, reference_path: Path, output: Path, data: problems.Data | None = None) -> None:
    """Every cell of a block into one trace file."""
    function = algorithms.get(block.algorithm)
    table = reference.read(reference_path)
    cells = planned(len(block.params), block.seeds, block.stop.get("halving", 1))
    progress = Progress(f"{block.experiment}/{block.name}", len(block.settings) * cells)
    tables, checksums, kept = [], set(), (np.inf, {})
    with threadpool_limits(1):
        for setting in block.settings:
            name = block.setting_name(setting)
            grid = block.params
            for seed in range(block.seeds):
                problem = load_problem(block, setting, seed, data)
                checksums.add(problem.checksum)
                run = partial(
                    run_chosen,
                    {},
                    function,
                    problem,
                    table[name, seed],
                    measures=block.measures,
                    progress=progress,
                )
                if seed == 0:
                    dropped, grid = halved(run, grid, block.stop)
                full = ((params, *run(params, block.stop)) for params in grid)
                for params, trace, status in chain(dropped if seed == 0 else (), full):
                    labels = {
                        "paper": block.paper,
                        "experiment": block.experiment,
                        "dataset": problem.title,
                        "data_origin": problem.origin,
                        "setting": name,
                        "algorithm": block.name,
                        "params": ",".join(f"{k}={v}" for k, v in params.items()),
                        "seed": seed,
                        "status": status,
                    }
                    tables.append(
                        trace.table(
                            **{k: setting[k] for k in block.varied}, **params_columns(trace.params), **labels
                        )
                    )
                    if problem.keeps_point and status == "done" and trace.last(block.measures[0]) < kept[0]:
                        kept = (
                            trace.last(block.measures[0]),
                            point_facts(trace.point, labels["params"], seed),
                        )
        facts = provenance.record(
            block=block.to_json(),
            config_hash=provenance.text_hash(block.to_json()),
            data_checksums=sorted(c for c in checksums if c),
            **kept[1],
        )
    write(output, tables, facts)


def run_chosen(done: dict, function, problem, ref: dict, params: dict, stop: dict, measures, progress):
    """A cell whose problem may choose hyper-parameters where the configuration gives a range. Points of the grid
    that come to the same cell run once; `done` keeps them."""
    params = problem.choose(function, params, ref)
    key = (problem.identity(function, params, ref), stop["rounds"])
    if key not in done:
        done[key] = run_cell(function, problem, ref, params, stop, measures, progress.round)
    progress.cell += 1
    trace, status = copy(done[key][0]), done[key][1]
    trace.params = params
    return trace, status


def planned(points: int, seeds: int, n: int) -> int:
    """How many cells a setting runs, those of successive halving included."""
    rungs = []
    for _ in range(2 if n > 1 else 0):
        if points > 1:
            rungs.append(points)
            points = -(-points // n)
    return sum(rungs) + points * seeds


def halved(run, grid, stop: dict) -> tuple[list, list]:
    """Successive halving: the cells that dropped out with their traces, and the grid points left to run in full.

    With `halving: n`, all points run 1/n² of the rounds, the best 1/n of them 1/n, and the best 1/n of those
    remain. Best is the lowest first measure at the end; ties go to the earlier point.
    """
    n, dropped, left = stop.get("halving", 1), [], list(grid)
    for share in (n * n, n) if n > 1 else ():
        if len(left) == 1:
            break
        cells = [(p, *run(p, stop | {"rounds": max(1, stop["rounds"] // share)})) for p in left]
        measure = list(cells[0][1].columns)[1]

        def rank(cell, measure=measure):
            return cell[1].last(measure) if cell[2] != "diverged" else np.inf

        cells.sort(key=rank)
        keep = max(1, -(-len(cells) // n))
        dropped += cells[keep:]
        left = [p for p in left if any(p is cell[0] for cell in cells[:keep])]
    return [(p, trace, status if status == "diverged" else "dropped") for p, trace, status in dropped], left


def point_facts(x: np.ndarray, params: str, seed: int) -> dict[str, str]:
    """The point a block keeps for pictures, in single precision, as text for the footer of its trace."""
    text = base64.b64encode(np.asarray(x, "<f4").tobytes()).decode()
    return {"point": text, "point_params": params, "point_seed": str(seed)}


def params_columns(params: dict) -> dict:
    """Hyper-parameters as columns of their own, `p_step` and so on, for figures to select by."""
    return {f"p_{k}": str(v) for k, v in params.items()}


def solve_references(block: Block, output: Path, data: problems.Data | None = None) -> None:
    """The reference optimum and constants of every setting and seed of an experiment."""
    with threadpool_limits(1):
        table = {
            (block.setting_name(s), seed): load_problem(block, s, seed, data).reference()
            for s in block.settings
            for seed in range(block.seeds)
        }
    reference.save(output, table)
