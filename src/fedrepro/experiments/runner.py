"""Run cells: pull an algorithm one round at a time, measure with the clock stopped, record, stop."""

import json
import sys
import time
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from fedrepro import algorithms
from fedrepro.experiments import problem as problems
from fedrepro.experiments import provenance, reference
from fedrepro.experiments.experiment import Block, Experiment, Stop
from fedrepro.experiments.halving import halved, planned
from fedrepro.experiments.reference import Reference
from fedrepro.experiments.trace import Trace, text, write

BLOW_UP = 1e8  # a cell whose first measure grows this far above its start has diverged
EVERY_ROUND_UNTIL = 1000  # later rounds are recorded 1 % apart


def recorded(round: int, previous: int) -> bool:
    return round <= EVERY_ROUND_UNTIL or round >= previous * 1.01


def run_cell(
    function, problem, ref: Reference, params: dict, stop: Stop, measures: tuple[str, ...], tick=None
) -> tuple[Trace, str]:
    """One algorithm on one setting and seed: its trace and its status, done, budget or diverged."""
    clients = problem.clients(ref)
    if not function.needs <= clients.offers():
        lacking = ", ".join(sorted(function.needs - clients.offers()))
        raise LookupError(f"{function.__name__} needs the oracle {lacking}, which these clients do not offer")
    meters = {name: problem.measure(name, ref) for name in measures}
    trace = Trace(measures)
    clock, previous, status = 0.0, 0, "done"
    x = clients.start
    found = {name: meter(x, clients) for name, meter in meters.items()}
    trace.add(round=0, seconds=clock, **found, **clients.ledger.row())
    target, first = stop.below, abs(found[measures[0]])
    if isinstance(target, str):
        target = params[target]  # the name of a hyper-parameter: each cell has its own target
    rounds = function(clients, **params)
    with np.errstate(over="ignore", invalid="ignore"):
        for round in range(1, stop.rounds + 1):
            begin = time.process_time()  # what others do on the machine does not count
            try:
                x = next(rounds)
            except (ArithmeticError, np.linalg.LinAlgError) as error:
                status = "diverged"  # a local solve broke down: the points up to here stand
                print(f"{function.__name__} broke down in round {round}: {error}", file=sys.stderr)
                break
            clock += time.process_time() - begin
            if tick:
                tick(round, stop.rounds)
            if round % stop.every and round < stop.rounds:
                continue
            found = {name: meter(x, clients) for name, meter in meters.items()}
            value = found[measures[0]]
            if not np.isfinite(value) or abs(value) > BLOW_UP * max(first, 1e-300):
                status = "diverged"
            reached = target is not None and found[stop.metric or measures[0]] <= target
            over = status == "diverged" or reached or round == stop.rounds
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


def load_problem(experiment: Experiment, setting: dict, seed: int, data: problems.Data | None):
    return problems.get(experiment.problem)(setting, seed, data)


def run_block(
    block: Block, reference_path: Path, output: Path, data: problems.Data | None = None, key: str = ""
) -> None:
    """Every cell of a block into one trace file, which carries the `key` of all it was made of."""
    experiment, function = block.experiment, algorithms.get(block.algorithm)
    table = reference.read(reference_path)
    cells = planned(len(block.params), experiment.seeds, block.stop.halving)
    progress = Progress(f"{experiment.name}/{block.name}", len(experiment.settings) * cells)
    tables, checksums, kept = [], set(), (np.inf, {})
    with threadpool_limits(1):
        for setting in experiment.settings:
            name = experiment.setting_name(setting)
            grid = block.params
            for seed in range(experiment.seeds):
                problem = load_problem(experiment, setting, seed, data)
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
                    dropped, grid = halved(run, grid, block.stop, block.measures[0])
                full = ((params, *run(params, block.stop)) for params in grid)
                for params, trace, status in chain(dropped if seed == 0 else (), full):
                    labels = {
                        "paper": experiment.paper,
                        "experiment": experiment.name,
                        "dataset": problem.title,
                        "data_origin": problem.origin,
                        "setting": name,
                        "algorithm": block.name,
                        "params": ",".join(f"{k}={v}" for k, v in params.items()),
                        "seed": seed,
                        "status": status,
                    }
                    varied = {k: setting[k] for k in experiment.varied}
                    tables.append(trace.table(**varied, **params_columns(params, trace.params), **labels))
                    end = trace.last(block.measures[0])
                    if problem.keeps_point and status == "done" and end < kept[0]:
                        kept = (
                            end,
                            {
                                "point_params": labels["params"],
                                "point_seed": str(seed),
                                "point": text(np.asarray(trace.point, "<f4")),
                                **{f"point_{k}": text(v) for k, v in problem.geometry().items()},
                            },
                        )
        facts = provenance.record(
            key=key,
            block=block.to_json(),
            config_hash=provenance.text_hash(block.to_json()),
            data_checksums=sorted(c for c in checksums if c),
            **kept[1],
        )
    write(output, tables, facts)


def run_chosen(done: dict, function, problem, ref: Reference, params: dict, stop: Stop, measures, progress):
    """A cell whose problem may choose hyper-parameters where the configuration leaves them open. Points of the grid
    that come to the same cell run once; `done` keeps them."""
    params = problem.choose(function, params, ref)
    key = (repr(sorted(params.items())), stop.rounds)
    if key not in done:
        done[key] = run_cell(function, problem, ref, params, stop, measures, progress.round)
    progress.cell += 1
    return done[key]


def params_columns(given: dict, chosen: dict) -> dict:
    """Hyper-parameters as columns of their own, `p_step` and so on, for figures to select by: as chosen, and where the
    configuration gives a range to tune in, `p_step_range` as well."""
    ranges = {f"p_{k}_range": json.dumps(v) for k, v in given.items() if isinstance(v, list)}
    return {f"p_{k}": str(v) for k, v in (given | chosen).items()} | ranges


def solve_references(
    experiment: Experiment, output: Path, data: problems.Data | None = None, key: str = ""
) -> None:
    """The reference optimum and constants of every setting and seed of an experiment."""
    with threadpool_limits(1):
        table = {
            (experiment.setting_name(s), seed): load_problem(experiment, s, seed, data).reference()
            for s in experiment.settings
            for seed in range(experiment.seeds)
        }
    reference.save(output, table, key)
