"""What Snakemake asks: which files belong to which target, and what a job depends on.

The Snakefile and the rules hold no logic of their own; this module answers for them, from the configuration.
"""

import json
import os
import re
from pathlib import Path

from fedrepro import algorithms, problems, provenance, steps
from fedrepro.config import Block, Config, ConfigError, Paper, load, nearest
from fedrepro.datasets.plan import DataPlan


class Plan:
    """The checked configuration and the paths it implies."""

    def __init__(self, overrides: dict | None = None, root: Path = Path()):
        self.config: Config = load(overrides, root)
        self.scale = self.config.scale
        self.results = f"results/{self.scale}"
        self.papers = self.config.papers
        self.datasets = DataPlan(self.config)
        self.blocks = {(b.experiment, b.name): b for b in self.config.blocks}
        self.experiments = {b.experiment: b for b in self.config.blocks}  # any one block knows the problem
        for paper in self.papers.values():
            for block in paper.blocks:
                check_block(paper, block)
        check_writable(root / "results")

    # --- files ---

    def trace(self, block: Block) -> str:
        return f"{self.results}/traces/{block.experiment}/{block.name}.parquet"

    def reference(self, experiment: str) -> str:
        return f"{self.results}/reference/{experiment}.npz"

    def partition(self, block: Block) -> str:
        return f"data/parts/{self.scale}/{block.paper}/{block.partition}.npz"

    def data(self, block: Block) -> dict[str, str]:
        """Named inputs: the decoded dataset, its principal directions and the partition, where there are any."""
        files = {}
        if block.dataset != "synthetic":
            files["dataset"] = f"data/decoded/{block.dataset}/meta.json"
            if block.dataset in self.datasets.with_pca():
                for centring in ("centred", "uncentred"):
                    files[centring] = f"data/decoded/{block.dataset}/pca_{centring}.npz"
        if block.partition:
            files["partition"] = self.partition(block)
        return files

    def traces_of(self, paper: str, experiments: list[str]) -> list[str]:
        return [
            self.trace(b) for e in experiments for b in self.papers[paper].experiment_blocks(f"{paper}_{e}")
        ]

    def references_of(self, paper: str, experiments: list[str]) -> list[str]:
        return [self.reference(f"{paper}_{e}") for e in experiments]

    def figure_files(self, paper: str, figure: str) -> list[str]:
        return [f"{self.results}/figures/{paper}/{figure}.{kind}" for kind in ("svg", "pdf", "png")]

    def figures(self) -> dict[str, list[str]]:
        """Target name -> files: `fedsplit_fig3a`, and `fedsplit_fig3` for all its lettered parts."""
        targets: dict[str, list[str]] = {}
        for name, paper in self.papers.items():
            for figure in paper.raw["figures"]:
                files = self.figure_files(name, figure)
                targets.setdefault(f"{name}_{figure}", []).extend(files)
                whole = re.sub(r"(?<=\d)[a-z]$", "", figure)
                if whole != figure:
                    targets.setdefault(f"{name}_{whole}", []).extend(files)
        return targets

    def all_figures(self, paper: str) -> list[str]:
        return [f for name in self.papers[paper].raw["figures"] for f in self.figure_files(paper, name)]

    def paper_files(self, paper: str) -> list[str]:
        """Everything one paper ends in."""
        return [
            *self.all_figures(paper),
            *self.datasets.pictures(paper),
            f"{self.results}/tables/{paper}_hyperparameters.csv",
            f"{self.results}/tables/{paper}_claims.csv",
            f"{self.results}/notebooks/{paper}.html",
        ]

    # --- what a job depends on besides its input files ---

    def code(self, *modules: str) -> str:
        return provenance.code_hash(*modules)

    def record(self, paper: str, *kinds: str) -> str:
        """The parts of a paper's YAML a report job shows, as plain JSON."""
        return json.dumps([self.papers[paper].raw.get(k) for k in kinds], sort_keys=True)

    def problem_code(self, block: Block) -> str:
        return provenance.code_hash("fedrepro.runner", f"fedrepro.problems.{block.problem.split('.')[0]}")

    def block_code(self, block: Block) -> str:
        return self.problem_code(block) + provenance.code_hash(f"fedrepro.algorithms.{block.algorithm}")

    def entry(self, paper: str, kind: str, name: str) -> dict:
        return self.papers[paper].raw[kind][name]


def check_block(paper: Paper, block: Block) -> None:
    """Refuse, before anything runs, what could only fail later."""
    where = (
        f"{paper.path}: experiments.{block.experiment.removeprefix(paper.name + '_')}.algorithms.{block.name}"
    )
    known = algorithms.names()
    if block.algorithm not in known:
        raise ConfigError(f"{where}: no algorithm '{block.algorithm}'; {nearest(block.algorithm, known)}")
    try:
        function = algorithms.get(block.algorithm)
        offered = getattr(problems.get(block.problem), "offers", None)
    except LookupError as error:
        raise ConfigError(f"{where}: {error}") from None
    if offered is not None and not function.needs <= offered:
        lacking = ", ".join(sorted(function.needs - offered))
        raise ConfigError(
            f"{where}: '{block.algorithm}' needs the oracle {lacking}, which the problem '{block.problem}' "
            f"does not offer (it offers {', '.join(sorted(offered))}); choose another algorithm or problem"
        )
    valid = algorithms.parameters(function)
    below = block.stop.get("below")
    if isinstance(below, str) and any(below not in params for params in block.params):
        raise ConfigError(
            f"{where}: stop.below names '{below}', which is not set; {nearest(below, block.params[0])}"
        )
    for params in block.params:
        for name, value in params.items():
            if name not in valid:
                raise ConfigError(
                    f"{where}: '{block.algorithm}' has no parameter '{name}'; {nearest(name, valid)}"
                )
            if name == "step" and not isinstance(value, list):  # a list is a range to tune in
                try:
                    steps.parse(value)
                except ValueError as error:
                    raise ConfigError(f"{where}.parameters.step: {error}") from None
        missing = [n for n, p in valid.items() if p.default is p.empty and n not in params]
        if missing:
            raise ConfigError(
                f"{where}: '{block.algorithm}' needs a value for '{missing[0]}'; add it under parameters"
            )


def check_writable(folder: Path) -> None:
    """An unwritable results folder is found now, not after an hour of work."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder}: not a folder; move the file of that name away")
    probe = folder if folder.exists() else folder.parent
    if not os.access(probe, os.W_OK):
        raise ConfigError(f"{probe}: not writable; change its permissions or run from a folder of your own")
