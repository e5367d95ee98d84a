"""The configuration: read, checked against its schema, and resolved for one scale.

An error is one sentence that names the file, the key, the nearest valid name and what to do.
"""

import dataclasses
import difflib
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(__file__).resolve().parents[2]
SCALES = ("smoke", "quick", "paper")


class ConfigError(Exception):
    """Something a person wrote in the configuration cannot be run as it stands."""


def nearest(name: str, valid) -> str:
    """The words ', did you mean …?' or a list of what would be valid."""
    valid = sorted(map(str, valid))
    close = difflib.get_close_matches(str(name), valid, n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else f"valid: {', '.join(valid) or 'none'}"


def read_yaml(path: Path) -> dict:
    try:
        document = yaml.safe_load(Path(path).read_text())
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; restore it or correct the name that points to it") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{line}: not valid YAML ({getattr(error, 'problem', error)})") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: expected a mapping of keys at the top level")
    return document


def validate(document: dict, schema: str, path) -> dict:
    """Check `document` (read from `path`) against workflow/schemas/<schema>.schema.yaml."""
    rules = yaml.safe_load((ROOT / "workflow/schemas" / f"{schema}.schema.yaml").read_text())
    validator = jsonschema.Draft202012Validator(rules)
    errors = sorted(validator.iter_errors(document), key=lambda e: (len(e.absolute_path), str(e.path)))
    if not errors:
        return document
    error = errors[0]
    where = ".".join(map(str, error.absolute_path)) or "top level"
    if error.validator == "additionalProperties" and isinstance(error.schema, dict):
        known = error.schema.get("properties", {})
        unknown = next(key for key in error.instance if key not in known)
        free = [key for key in known if key not in error.instance]
        raise ConfigError(f"{path}: unknown key '{unknown}' at {where}; {nearest(unknown, free or known)}")
    raise ConfigError(f"{path}: {where}: {error.message}")


@dataclass(frozen=True)
class Block:
    """What one job runs: an experiment x an algorithm, its grid included."""

    paper: str
    experiment: str
    name: str  # the key in the YAML; labels the curve and names the trace file
    algorithm: str
    problem: str
    dataset: str
    partition: str | None
    settings: tuple[dict, ...]  # the problem's parameters, one dict per setting
    varied: tuple[str, ...]  # which of them differ between settings
    params: tuple[dict, ...]  # the algorithm's hyper-parameters, one dict per grid point
    seeds: int
    stop: dict  # rounds, and optionally metric and below
    measures: tuple[str, ...]
    mem_mb: int = 2000

    def to_json(self) -> str:
        """Sorted plain JSON of exactly what the job uses: Snakemake reruns the block when it changes."""
        return json.dumps(self.__dict__, sort_keys=True)

    def problem_json(self) -> str:
        """The part that defines the problem, shared by all blocks of the experiment."""
        return dataclasses.replace(
            self, name="", algorithm="", params=(), stop={}, measures=(), mem_mb=0
        ).to_json()

    @classmethod
    def from_json(cls, text: str) -> "Block":
        raw = json.loads(text)
        for name in ("settings", "varied", "params", "measures"):
            raw[name] = tuple(raw[name])
        return cls(**raw)

    def setting_name(self, setting: dict) -> str:
        """`kappa=100`, or `-` where the experiment has one setting."""
        return ",".join(f"{k}={setting[k]}" for k in self.varied) or "-"


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

    def experiment_blocks(self, experiment: str) -> list[Block]:
        return [b for b in self.blocks if b.experiment == experiment]


@dataclass
class Config:
    scale: str
    data: str
    download_limit_mb: float
    seeds: dict
    papers: dict[str, Paper]

    @property
    def blocks(self) -> list[Block]:
        return [b for p in self.papers.values() for b in p.blocks]


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


def load(overrides: dict | None = None, root: Path = Path()) -> Config:
    """Read and check config.yaml and every paper it names; `overrides` come from --config."""
    path = root / "config/config.yaml"
    top = read_yaml(path)
    top.update(overrides or {})
    validate(top, "config", path)
    papers = {}
    for name in top["papers"]:
        file = root / "config/papers" / f"{name}.yaml"
        if not file.exists():
            known = [p.stem for p in (root / "config/papers").glob("*.yaml")]
            raise ConfigError(f"{path}: papers: no paper '{name}'; {nearest(name, known)}")
        papers[name] = load_paper(file, top["scale"], top["seeds"][top["scale"]])
    return Config(top["scale"], top["data"], top["download_limit_mb"], top["seeds"], papers)


def load_paper(path: Path, scale: str, seeds: int) -> Paper:
    raw = validate(read_yaml(path), "paper", path)
    paper = Paper(raw, path, scale)
    for name, experiment in raw["experiments"].items():
        paper.blocks += read_experiment(path, raw, name, experiment, scale, seeds)
    for kind in ("figures", "claims"):
        for key, entry in raw[kind].items():
            for wanted in entry["experiments"]:
                if wanted not in raw["experiments"]:
                    raise ConfigError(
                        f"{path}: {kind}.{key}: no experiment '{wanted}'; "
                        f"{nearest(wanted, raw['experiments'])}"
                    )
    return paper


def read_experiment(path, raw, name, experiment, scale, default_seeds) -> Iterator[Block]:
    where = f"{path}: experiments.{name}"
    parameters = experiment.get("parameters", {})
    check_finite(where, parameters)
    partition = experiment.get("partition")
    if partition is not None and partition not in raw.get("partitions", {}):
        raise ConfigError(
            f"{where}: no partition '{partition}'; {nearest(partition, raw.get('partitions', {}))}"
        )
    seeds = at_scale(experiment["seeds"], scale) if "seeds" in experiment else default_seeds
    for key, block in experiment["algorithms"].items():
        here = f"{where}.algorithms.{key}"
        block = block or {}
        check_finite(here, block.get("parameters", {}))
        stop = block.get("stop", experiment["stop"])
        resolved = {k: (at_scale(v, scale) if isinstance(v, dict) else v) for k, v in stop.items()}
        if "metric" in stop and stop["metric"] not in experiment["measures"]:
            raise ConfigError(f"{here}.stop: metric '{stop['metric']}' is not measured; "
                              f"{nearest(stop['metric'], experiment['measures'])}")  # fmt: skip
        yield Block(
            paper=raw["paper"],
            experiment=f"{raw['paper']}_{name}",
            name=key,
            algorithm=block.get("algorithm", key),
            problem=experiment["problem"],
            dataset=experiment.get("dataset", "synthetic"),
            partition=partition,
            settings=tuple(expand(parameters, scale)),
            varied=tuple(k for k, v in parameters.items() if "grid" in v),
            params=tuple(expand(block.get("parameters", {}), scale)),
            seeds=seeds,
            stop=resolved,
            measures=tuple(experiment["measures"]),
            mem_mb=block.get("mem_mb", 2000),
        )


def check_finite(where: str, parameters: dict) -> None:
    for name, entry in parameters.items():
        for key in ("value", "grid", "smoke", "quick"):
            values = entry.get(key)
            for value in values if isinstance(values, list) else [values]:
                if isinstance(value, float) and not math.isfinite(value):
                    raise ConfigError(f"{where}.parameters.{name}.{key}: {value} is not a finite number")
