"""Refuse, before anything runs, what could only fail later, or would run and mean something else."""

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fedrepro import algorithms
from fedrepro.datasets.partition import SCHEMES
from fedrepro.datasets.partition import parameters as scheme_parameters
from fedrepro.experiments import problem as problems
from fedrepro.experiments.experiment import SCALES, Block, Experiment, Paper, at_scale
from fedrepro.experiments.problem import Problem
from fedrepro.experiments.registry import claim, evidence, figure
from fedrepro.maths import domains
from fedrepro.maths.domains import nearest
from fedrepro.pipeline.config import Config, at
from fedrepro.pipeline.documents import ConfigError


def check_papers(config: Config, datasets: dict) -> None:
    """Every paper, at its own scale and then at the others: a small run finds what a long one would stumble over.
    `datasets` are those of the catalogue."""
    for paper in config.papers.values():
        check_functions(paper)
        check_paper(paper, datasets)
        for scale in SCALES:
            if scale != paper.scale:
                try:
                    check_paper(at(paper.raw, paper.path, scale, config.seeds), datasets)
                except ConfigError as error:
                    raise ConfigError(f"{error} (at scale {scale})") from None


def check_paper(paper: Paper, datasets: dict) -> None:
    """All that a paper's YAML says of one scale."""
    experiments = {b.experiment.name: b.experiment for b in paper.blocks}
    for name, entry in paper.raw.get("partitions", {}).items():
        check_partition(paper, name, entry, datasets)
    for experiment in experiments.values():
        check_experiment(paper, experiment, datasets)
    known = algorithms.names()
    for block in paper.blocks:
        check_block(paper, block, known)


def check_functions(paper: Paper) -> None:
    """Every figure, claim and slip's evidence that the YAML names is there."""
    wanted = [("figures", figure, name) for name in paper.raw["figures"]]
    wanted += [("claims", claim, name) for name in paper.raw["claims"]]
    wanted += [
        ("slips", evidence, slip["evidence"]) for slip in paper.raw.get("slips", []) if "evidence" in slip
    ]
    for kind, registry, name in wanted:
        with python(f"{paper.path}: {kind}", f"papers/{paper.name}/{registry.kind}"):
            known = registry.names(paper.name)
        if name not in known:
            place = f"papers/{paper.name}/{registry.kind}"
            raise ConfigError(
                f"{paper.path}: {kind}: no @{registry.word}('{name}') in {place}; {nearest(name, known)}"
            )


# --- partitions ---


def check_partition(paper: Paper, name: str, entry: dict, datasets: dict) -> None:
    where = f"{paper.path}: partitions.{name}"
    need(entry["dataset"] in datasets, f"{where}.dataset", "no dataset", entry["dataset"], datasets)
    need(entry["scheme"] in SCHEMES, f"{where}.scheme", "no scheme", entry["scheme"], SCHEMES)
    scheme, known = f"the scheme '{entry['scheme']}'", scheme_parameters(entry["scheme"])
    given = entry.get("parameters", {})
    for key in given:
        need(key in known, f"{where}.parameters", f"{scheme} has no parameter", key, known)
    check_present(where, scheme, known, given)
    fixed = {key: at_scale(value, paper.scale) for key, value in given.items() if "setting" not in value}
    for key, value in fixed.items():
        refuse(value, known[key].annotation, fixed, f"{where}.parameters.{key}")


def check_settings_of_partition(paper: Paper, where: str, experiment: Experiment) -> set[str]:
    """The parameters of an experiment that its partition asks for are there and suit its scheme."""
    entry = paper.raw["partitions"][experiment.partition] if experiment.partition else {}
    open_ = {k: v["setting"] for k, v in entry.get("parameters", {}).items() if "setting" in v}
    for key, asked in open_.items():
        kind = scheme_parameters(entry["scheme"])[key].annotation
        for setting in experiment.settings:
            if asked not in setting:
                raise ConfigError(
                    f"{where}.parameters: '{asked}' is missing: the partition '{experiment.partition}' takes its "
                    f"'{key}' from it"
                )
            refuse(setting[asked], kind, {}, f"{where}.parameters.{asked}")
    return set(open_.values())


# --- experiments ---


def place(paper: Paper, experiment: Experiment) -> str:
    return f"{paper.path}: experiments.{experiment.name.removeprefix(paper.name + '_')}"


def check_experiment(paper: Paper, experiment: Experiment, datasets: dict) -> None:
    """Its problem, data, parameters and measures."""
    where = place(paper, experiment)
    function, kind = problem_of(where, experiment)
    check_data(paper, where, experiment, function, datasets)
    asked = check_settings_of_partition(paper, where, experiment)
    declared = problems.setting_of(function)
    for setting in experiment.settings:
        own = {k: v for k, v in setting.items() if k not in asked or k in domains.keys(declared)}
        refuse(own, declared, setting, f"{where}.parameters")
    for measure in paper.raw["experiments"][experiment.name.removeprefix(paper.name + "_")]["measures"]:
        need(
            measure in kind.measurable,
            f"{where}.measures",
            f"the problem '{experiment.problem}' has no measure",
            measure,
            kind.measurable,
        )


def problem_of(where: str, experiment: Experiment) -> tuple[Callable, type[Problem]]:
    with python(f"{where}.problem", f"the problem '{experiment.problem}'"):
        function = problems.get(experiment.problem)
        problems.setting_of(function)
        return function, problems.kind(function)


def check_data(paper: Paper, where: str, experiment: Experiment, function: Callable, datasets: dict) -> None:
    real = experiment.dataset != "synthetic"
    if real:
        need(experiment.dataset in datasets, f"{where}.dataset", "no dataset", experiment.dataset, datasets)
    if problems.needs_data(function) and not (real and experiment.partition):
        raise ConfigError(
            f"{where}: the problem '{experiment.problem}' needs a dataset and a partition; name both"
        )
    if not problems.needs_data(function) and (real or experiment.partition):
        raise ConfigError(
            f"{where}: the problem '{experiment.problem}' draws its own data; leave out dataset and partition"
        )
    if experiment.partition:
        own = paper.raw["partitions"][experiment.partition]["dataset"]
        if own != experiment.dataset:
            raise ConfigError(
                f"{where}.partition: '{experiment.partition}' is one of the dataset '{own}', not of '{experiment.dataset}'"
            )


# --- blocks ---


def check_block(paper: Paper, block: Block, known: list[str]) -> None:
    """Its algorithm, the oracles that needs, its hyper-parameters and its target."""
    experiment = block.experiment
    where = f"{place(paper, experiment)}.algorithms.{block.name}"
    need(block.algorithm in known, where, "no algorithm", block.algorithm, known)
    with python(where, f"algorithms/{block.algorithm}.py"):
        function = algorithms.get(block.algorithm)
    _, kind = problem_of(where, experiment)
    offered = kind.federation.offers()
    if not function.needs <= offered:
        lacking = ", ".join(sorted(function.needs - offered))
        raise ConfigError(
            f"{where}: '{block.algorithm}' needs the oracle {lacking}, which the problem '{experiment.problem}' "
            f"does not offer (it offers {', '.join(sorted(offered))}); choose another algorithm or problem"
        )
    check_target(where, block)
    valid, seen = algorithms.parameters(function), set()
    for setting in experiment.settings:
        for params in block.params:
            found = kind.tuned(block.algorithm, setting, params)
            for name in params:
                need(
                    name in valid or name in found,
                    where,
                    f"'{block.algorithm}' has no parameter",
                    name,
                    valid,
                )
                if name in valid and name in found:
                    raise ConfigError(
                        f"{where}.parameters.{name}: both given and tuned; leave out one of them"
                    )
            check_present(where, f"'{block.algorithm}'", valid, params.keys() | found)
            for name, value in params.items():
                if type(value) in (int, float) and (name, value) in seen:
                    continue  # a number means the same in every cell
                check_value(f"{where}.parameters.{name}", kind, valid, name, setting, params)
                if type(value) in (int, float):
                    seen.add((name, value))


def check_value(where: str, kind: type[Problem], valid: dict, name: str, setting: dict, params: dict) -> None:
    """A hyper-parameter, as written or as the problem understands it, lies in its set."""
    try:
        meant = kind.meanings(name, params[name], setting, params)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None
    for value in meant:
        refuse(value, valid[name].annotation, params, where)


def check_target(where: str, block: Block) -> None:
    below = block.stop.below
    for params in block.params if isinstance(below, str) else ():
        if below not in params:
            raise ConfigError(
                f"{where}: stop.below names '{below}', which is not set; {nearest(below, params)}"
            )
        refuse(params[below], float, params, f"{where}.parameters.{below}")


# --- all of them ---


@contextmanager
def python(where: str, what: str) -> Iterator[None]:
    """Whatever a file of Python does when it is read: a person's own algorithm may say anything."""
    try:
        yield
    except LookupError as error:
        raise ConfigError(f"{where}: {error}") from None
    except SyntaxError as error:
        file = error.filename if error.filename not in (None, "<unknown>") else what
        line = "" if error.lineno is None else f", line {error.lineno}"
        raise ConfigError(f"{where}: {file}{line}: not valid Python ({error.msg})") from None
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigError(f"{where}: {what} cannot be read ({reason})") from None


def need(holds: bool, where: str, otherwise: str, name, known) -> None:
    if not holds:
        raise ConfigError(f"{where}: {otherwise} '{name}'; {nearest(name, known)}")


def check_present(where: str, what: str, known: dict[str, inspect.Parameter], given) -> None:
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in given:
            raise ConfigError(f"{where}: {what} needs a value for '{name}'; add it under parameters")


def refuse(value, kind, beside: dict, where: str) -> None:
    """The first thing that is wrong with a value, as an error."""
    for inside, sentence in domains.refusals(value, kind, beside):
        raise ConfigError(f"{where}{'.' if inside else ''}{inside}: {sentence}")


def check_writable(folder: Path) -> None:
    """An unwritable results folder is found now, not after an hour of work."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder}: not a folder; move the file of that name away")
    probe = folder if folder.exists() else folder.parent
    if not os.access(probe, os.W_OK):
        raise ConfigError(f"{probe}: not writable; change its permissions or run from a folder of your own")
