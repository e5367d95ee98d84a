"""The configuration: config.yaml, what the command line changes in it, and the papers resolved for one scale."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fedrepro.experiments.experiment import SCALES, Block, Experiment, Paper, Stop, at_scale, expand
from fedrepro.maths.domains import nearest, shown
from fedrepro.pipeline.documents import ConfigError, check_plain, read_yaml, validate

ROOT = Path(__file__).resolve().parents[3]
MOST_CELLS = 20_000  # in a block, which is one job: our largest has 441, and a slip in a grid multiplies


@dataclass
class Config:
    scale: str
    data: str
    download_limit_mb: float
    seeds: dict
    papers: dict[str, Paper]
    root: Path = Path()  # of the project
    remove: bool = False  # whether `tidy` removes what it finds

    @property
    def blocks(self) -> list[Block]:
        return [b for p in self.papers.values() for b in p.blocks]


def load(overrides: dict | None = None, root: Path = Path()) -> Config:
    """Read and check config.yaml and every paper it names; `overrides` come from --config."""
    path = root / "config/config.yaml"
    top = validate(read_yaml(path), "config", path)
    if overrides:
        top = overridden(top, overrides)
    papers = {}
    for name in top["papers"]:
        file = root / "config/papers" / f"{name}.yaml"
        if not file.exists():
            known = [p.stem for p in (root / "config/papers").glob("*.yaml")]
            raise ConfigError(f"{path}: papers: no paper '{name}'; {nearest(name, known)}")
        papers[name] = at(read_paper(file), file, top["scale"], top["seeds"])
    return Config(
        top["scale"],
        top["data"],
        top["download_limit_mb"],
        top["seeds"],
        papers,
        root,
        remove=top.get("remove", False),
    )


def overridden(top: dict, overrides: dict) -> dict:
    """config.yaml with what the command line says instead: `seeds=2` is for every scale, `seeds={smoke: 1}` for one,
    `papers=shed` and `papers=fedsplit,shed` are lists."""
    given = {key: reread(value) for key, value in overrides.items()}
    if isinstance(given.get("papers"), str):
        given["papers"] = [name.strip() for name in given["papers"].split(",")]
    if isinstance(given.get("seeds"), int):
        given["seeds"] = dict.fromkeys(SCALES, given["seeds"])
    elif isinstance(given.get("seeds"), dict):
        given["seeds"] = top["seeds"] | given["seeds"]
    elif "seeds" in given:
        raise ConfigError(
            f"--config: seeds: {shown(given['seeds'])} is neither a whole number, as in seeds=2, nor a mapping, as in "
            "seeds='{smoke: 1}'"
        )
    if given.get("remove") in ("true", "false"):
        given["remove"] = given["remove"] == "true"
    check_plain("--config", given)
    return validate(top | given, "config", "--config")


def reread(value):
    """Snakemake leaves numbers inside lists and mappings as text."""
    if isinstance(value, dict):
        return {key: reread(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [reread(inner) for inner in value]
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def read_paper(path: Path) -> dict:
    """A paper's YAML, all names in it known."""
    raw = validate(read_yaml(path), "paper", path)
    if raw["paper"] != path.stem:
        raise ConfigError(f"{path}: paper: '{raw['paper']}' is not the file's name; write '{path.stem}'")
    slips = {f"slip {slip['where']}": slip for slip in raw.get("slips", [])}
    for kind, entries in (("figures", raw["figures"]), ("claims", raw["claims"]), ("slips", slips)):
        for key, entry in entries.items():
            for wanted in entry.get("experiments", []):
                if wanted not in raw["experiments"]:
                    raise ConfigError(
                        f"{path}: {kind}.{key}: no experiment '{wanted}'; "
                        f"{nearest(wanted, raw['experiments'])}"
                    )
    for key, entry in raw["claims"].items():
        drawn = entry.get("figure")
        if drawn is not None and drawn not in raw["figures"]:
            raise ConfigError(
                f"{path}: claims.{key}.figure: no figure '{drawn}'; {nearest(drawn, raw['figures'])}"
            )
    known = raw.get("partitions", {})
    for key, experiment in raw["experiments"].items():
        partition = experiment.get("partition")
        if partition is not None and partition not in known:
            raise ConfigError(
                f"{path}: experiments.{key}: no partition '{partition}'; {nearest(partition, known)}"
            )
    return raw


def at(raw: dict, path: Path, scale: str, seeds: dict[str, int]) -> Paper:
    """A paper resolved for one scale; `seeds` are those of experiments that say nothing of them."""
    paper = Paper(raw, path, scale)
    for name, experiment in raw["experiments"].items():
        paper.blocks += read_experiment(path, raw["paper"], name, experiment, scale, seeds[scale])
    return paper


def read_experiment(path, paper, name, experiment, scale, default_seeds) -> Iterator[Block]:
    where = f"{path}: experiments.{name}"
    parameters = experiment.get("parameters", {})
    seeds = at_scale(experiment["seeds"], scale) if "seeds" in experiment else default_seeds
    refuse_many(where, points(parameters, scale) * seeds)
    record = Experiment(
        paper=paper,
        name=f"{paper}_{name}",
        problem=experiment["problem"],
        dataset=experiment.get("dataset", "synthetic"),
        partition=experiment.get("partition"),
        settings=tuple(expand(parameters, scale)),
        varied=tuple(k for k, v in parameters.items() if "grid" in v),
        seeds=seeds,
    )
    for key, block in experiment["algorithms"].items():
        here = f"{where}.algorithms.{key}"
        hyper = block.get("parameters", {})
        refuse_many(here, points(parameters, scale) * points(hyper, scale) * seeds)
        stop = block.get("stop", experiment["stop"])
        if "metric" in stop and stop["metric"] not in experiment["measures"]:
            raise ConfigError(f"{here}.stop: metric '{stop['metric']}' is not measured; "
                              f"{nearest(stop['metric'], experiment['measures'])}")  # fmt: skip
        yield Block(
            experiment=record,
            name=key,
            algorithm=block.get("algorithm", key),
            params=tuple(expand(hyper, scale)),
            stop=Stop(**{k: at_scale(v, scale) if isinstance(v, dict) else v for k, v in stop.items()}),
            measures=tuple(experiment["measures"]),
            mem_mb=block.get("mem_mb", 2000),
        )


def points(parameters: dict, scale: str) -> int:
    """How many grid points a parameter section has, without making them."""
    return math.prod(len(at_scale(entry, scale)) for entry in parameters.values() if "grid" in entry)


def refuse_many(where: str, cells: int) -> None:
    if cells > MOST_CELLS:
        raise ConfigError(
            f"{where}: {cells:,} cells, more than the {MOST_CELLS:,} that one job may have; make a grid or seeds smaller"
        )
