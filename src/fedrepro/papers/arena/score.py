"""A method of one's own in the arena: contract tests on the file, its cells alone, its row in every profile and table.

The file is one algorithm, as README.md shows. What it wants tuned it says itself, in the problem's constants:

    RANGES = {"step": ["0.1/L*", "4/L*"]}

Nothing in the tree is touched: the file is copied to a folder of its own, which the algorithms are then looked for in too.
"""

import importlib
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from pathlib import Path

import pandas as pd

from fedrepro import algorithms
from fedrepro.experiments import problem as problems
from fedrepro.experiments import trace
from fedrepro.experiments.experiment import Block, Paper
from fedrepro.experiments.problem import Data
from fedrepro.experiments.results import Results
from fedrepro.experiments.runner import run_block
from fedrepro.papers.arena import network, readings
from fedrepro.papers.arena.readings import EVERYTHING
from fedrepro.reporting import figures, panels
from fedrepro.reporting.names import called

FIGURES = ("profiles", "budget", "heat", "network", "which")


class Refused(Exception):
    """A file that cannot take part, and why."""


def enter(path: Path, folder: Path) -> str:
    """Make an algorithm of a file known under its name, from a copy in a folder of its own."""
    name = path.stem
    if not name.isidentifier() or name.startswith("_"):
        raise Refused(f"{path}: an algorithm's file is named after it, such as mine.py")
    if name in algorithms.names():
        raise Refused(f"{path}: there is an algorithm '{name}' already; rename the file and the function")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, folder / f"{name}.py")
    algorithms.__path__.append(str(folder))
    importlib.invalidate_caches()
    try:
        algorithms.get(name)
    except Exception as error:
        raise Refused(f"{path}: {error}") from None
    return name


CONTRACT = """
import sys
import pytest
from fedrepro import algorithms
folder, tests, name = sys.argv[1:]
algorithms.__path__.append(folder)
chosen = [f"{tests}/algorithms/test_contract.py", "-k", f"{name} and not hand_count"]
sys.exit(pytest.main([*chosen, "-q", "-x", "--no-header", "--tb=short", "-p", "no:cacheprovider", "--rootdir", tests]))
"""


def keep_contract(name: str, folder: Path, tests: Path) -> None:
    """The contract tests of every algorithm, on this one, in a process of their own; what they find amiss is the reason
    for a refusal."""
    words = [sys.executable, "-c", CONTRACT, str(folder), str(tests), name]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tests.parent, check=False)
    if done.returncode != 0:
        raise Refused(f"{name} does not keep the contract\n{done.stdout}{done.stderr}")


def blocks(paper: Paper, name: str) -> list[Block]:
    """The cells of every experiment whose clients offer what the method needs, its ranges in place."""
    function = algorithms.get(name)
    ranges = getattr(sys.modules[function.__module__], "RANGES", {})
    first = {b.experiment.name: b for b in paper.blocks if b.experiment.name in EVERYTHING}
    return [
        replace(block, name=name, algorithm=name, params=(dict(ranges),))
        for block in first.values()
        if function.needs <= problems.kind(problems.get(block.experiment.problem)).federation.offers()
    ]


@dataclass(frozen=True)
class Joined(Results):
    """Published results with one's own traces beside them."""

    own: tuple[tuple[str, Path], ...] = ()

    def declared(self, experiments):
        return self

    def __hash__(self):
        return hash((self.folder, self.own))

    def traces(self, *experiments):
        mine = [path for experiment, path in self.own if experiment in experiments]
        return pd.concat([super().traces(*experiments), *map(trace.read, mine)], ignore_index=True)


def score(path: Path, paper: Paper, results: Results, work: Path, tests: Path) -> tuple[str, Joined]:
    """Enter a file, test it, run its cells against the published references."""
    for experiment in EVERYTHING:
        results.traces(experiment)  # published first: an error here says what to run
    name = enter(path, work / "algorithm")
    keep_contract(name, work / "algorithm", tests)
    own = []
    for block in blocks(paper, name):
        experiment = block.experiment.name
        output = work / "traces" / experiment / f"{name}.parquet"
        output.parent.mkdir(parents=True, exist_ok=True)
        results.reference(experiment)  # made as it is declared
        run_block(
            block, results.folder / "reference" / f"{experiment}.npz", output, Data.of(block.experiment, None)
        )
        own.append((experiment, output))
    if not own:
        raise Refused(f"{name}: no clients of the arena offer all of {sorted(algorithms.get(name).needs)}")
    return name, Joined(results.folder, None, tuple(own))


def ranking(table: pd.DataFrame) -> pd.DataFrame:
    """Each class's methods by the share of problems they solve to the first target, and by how often they are first."""
    lines = []
    for kind in readings.CLASSES:
        found = readings.matrix(readings.of_class(table, kind), "trips", readings.ROUGH)
        ratio = readings.ratios(found)
        for name in found:
            solved = found[name] < float("inf")
            lines.append({
                "class": kind, "method": called(name), "solved": solved.mean(),
                "fewest floats": (ratio[name] <= 1.0).mean(), "within twice the best": (ratio[name] <= 2.0).mean(),
            })  # fmt: skip
    order = pd.DataFrame(lines).sort_values(
        ["class", "solved", "within twice the best"], ascending=False, kind="stable"
    )
    return order.reset_index(drop=True)


def page(name: str, joined: Joined) -> str:
    """One self-contained page: the ranking with one's own rows marked, every picture, and the sliders."""
    table = readings.costs(joined.traces(*EVERYTHING))
    rows = "".join(
        f"<tr{' class=own' if line['method'] == called(name) else ''}>"
        + "".join(
            f"<td>{v:.0%}</td>" if isinstance(v, float) else f"<td>{escape(str(v))}</td>"
            for v in line.values()
        )
        + "</tr>"
        for line in ranking(table).to_dict("records")
    )
    heads = "".join(f"<th>{head}</th>" for head in ranking(table).columns)
    pictures = "".join(f"<figure>{svg(figure, joined)}</figure>" for figure in FIGURES)
    style = (
        "body{font-family:sans-serif;margin:2em;max-width:75em}svg{max-width:100%;height:auto}"
        "td,th{padding:.15em .8em;text-align:left}tr.own{background:#FFE9C7;font-weight:bold}"
    )
    return (
        f"<!doctype html><meta charset='utf-8'><title>{escape(name)} in the arena</title><style>{style}</style>"
        f"<h1>{escape(called(name))} in the arena</h1><p>scale: {escape(joined.scale)}</p>"
        f"<table><tr>{heads}</tr>{rows}</table>{pictures}<h2>Your own network</h2>{network.sliders(joined, table)}"
    )


def svg(figure: str, joined: Joined) -> str:
    drawn = figures.draw("arena", figure, joined, list(EVERYTHING))
    out = StringIO()
    panels.settle(drawn)
    drawn.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()[out.getvalue().index("<svg") :]
