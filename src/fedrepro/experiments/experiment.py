"""What a run is, as records: papers, their experiments, blocks of cells, and when a cell stops.

An *experiment* is a problem family: a problem, its settings and its seeds. A *cell* is one algorithm on one setting
and seed. A *block* is what one job runs: an experiment x an algorithm, its grid of hyper-parameters included.
"""

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

SCALES = ("smoke", "quick", "paper")


class Record:
    """Sorted plain JSON of exactly what a job uses: Snakemake reruns the job when it changes."""

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


@dataclass(frozen=True)
class Stop:
    """When a cell ends, and how often it is measured."""

    rounds: int
    metric: str | None = None  # the measure that is to fall `below`; the first one unless named
    below: float | str | None = (
        None  # a number, or the name of a hyper-parameter: each cell has its own target
    )
    every: int = 1  # measure every n-th round only, where measuring is dear
    halving: int = 1  # tune by successive halving: keep one in n grid points, then run on


@dataclass(frozen=True)
class Experiment(Record):
    paper: str
    name: str  # with the paper in front: fedsplit_fig1
    problem: str  # paper.function
    dataset: str
    partition: str | None
    settings: tuple[dict, ...]  # the problem's parameters, one dict per setting
    varied: tuple[str, ...]  # which of them differ between settings
    seeds: int

    @classmethod
    def from_json(cls, text: str) -> "Experiment":
        raw = json.loads(text)
        return cls(**raw | {"settings": tuple(raw["settings"]), "varied": tuple(raw["varied"])})

    def setting_name(self, setting: dict) -> str:
        """`kappa=100`, or `-` where the experiment has one setting."""
        return ",".join(f"{k}={setting[k]}" for k in self.varied) or "-"


@dataclass(frozen=True)
class Block(Record):
    experiment: Experiment
    name: str  # the key in the YAML; labels the curve and names the trace file
    algorithm: str
    params: tuple[dict, ...]  # the algorithm's hyper-parameters, one dict per grid point
    stop: Stop
    measures: tuple[str, ...]
    mem_mb: int = 2000

    @classmethod
    def from_json(cls, text: str) -> "Block":
        raw = json.loads(text)
        experiment = Experiment.from_json(json.dumps(raw["experiment"]))
        parts = {
            "params": tuple(raw["params"]),
            "measures": tuple(raw["measures"]),
            "stop": Stop(**raw["stop"]),
        }
        return cls(**raw | parts | {"experiment": experiment})

    @property
    def cells(self) -> int:
        return len(self.experiment.settings) * len(self.params) * self.experiment.seeds


@dataclass
class Paper:
    """One paper's YAML, resolved for one scale."""

    raw: dict
    path: Path
    scale: str
    blocks: list[Block] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.raw["paper"]

    def full(self, experiments) -> list[str]:
        """The experiments' names with the paper in front."""
        return [f"{self.name}_{name}" for name in experiments]

    def experiment_blocks(self, experiment: str) -> list[Block]:
        return [b for b in self.blocks if b.experiment.name == experiment]


def at_scale(entry: dict, scale: str):
    """The value (or list of values) a parameter takes at this scale."""
    return entry.get(scale, entry.get("grid", entry.get("value")))


def expand(parameters: dict, scale: str) -> Iterator[dict]:
    """The cross product of a parameter section: one plain dict per grid point."""
    names = list(parameters)
    choices = [
        at_scale(parameters[n], scale) if "grid" in parameters[n] else [at_scale(parameters[n], scale)]
        for n in names
    ]
    for point in itertools.product(*choices):
        yield dict(sorted(zip(names, point, strict=True)))  # the order that JSON gives a job
