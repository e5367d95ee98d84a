"""What Snakemake asks: which files belong to which target, and what a job depends on.

The Snakefile and the rules hold no logic of their own; this module answers for them, from the configuration.
"""

import ast
import contextlib
import json
import re
from functools import partial
from pathlib import Path

from fedrepro import algorithms
from fedrepro.datasets.files import reading
from fedrepro.experiments import problem as problems
from fedrepro.experiments import reference, trace
from fedrepro.experiments.experiment import Block, Experiment
from fedrepro.experiments.registry import claim, figure, modules
from fedrepro.pipeline.checks import check_papers, check_writable
from fedrepro.pipeline.code import code_hash, imported
from fedrepro.pipeline.config import Config, load
from fedrepro.pipeline.data_plan import DataPlan
from fedrepro.pipeline.documents import ConfigError
from fedrepro.pipeline.keys import Keys, key_of

JUDGED = ("claims.csv", "slips.csv", "evidence.parquet")  # what the rule `claims` makes, besides the strips
TABLES = ("hyperparameters.csv", *JUDGED)


class Plan:
    """The checked configuration and the paths it implies."""

    def __init__(self, overrides: dict | None = None, root: Path = Path()):
        self.config: Config = load(overrides, root)
        self.scale = self.config.scale
        self.results = f"results/{self.scale}"
        self.papers = self.config.papers
        self.datasets = DataPlan(self.config)
        self.blocks = {(b.experiment.name, b.name): b for b in self.config.blocks}
        self.experiments = {b.experiment.name: b.experiment for b in self.config.blocks}
        check_papers(self.config, self.datasets.datasets)
        check_writable(root / "results")
        self.keys = Keys(root / self.results)

    # --- files ---

    def trace(self, block: Block) -> str:
        return f"{self.results}/traces/{block.experiment.name}/{block.name}.parquet"

    def reference(self, experiment: str) -> str:
        return f"{self.results}/reference/{experiment}.npz"

    def data(self, experiment: Experiment) -> dict[str, str]:
        """Named inputs: the decoded dataset, its principal directions and the partition, where there are any; and every
        dataset that a problem which chooses for itself is given in its settings."""
        files = {}
        for name in self.datasets.named_by(experiment):
            files[name.replace("-", "_")] = f"data/decoded/{name}/meta.json"
        if experiment.dataset != "synthetic":
            files["dataset"] = f"data/decoded/{experiment.dataset}/meta.json"
            if experiment.dataset in self.datasets.with_pca():
                for centring in ("centred", "uncentred"):
                    files[centring] = f"data/decoded/{experiment.dataset}/pca_{centring}.npz"
        if experiment.partition:
            files["partition"] = f"data/parts/{self.scale}/{experiment.paper}/{experiment.partition}.npz"
        return files

    def together(self) -> dict[str, list[Block]]:
        """Experiments whose blocks are one job: all at scale quick, at scale smoke those whose YAML says so."""
        found = {}
        for name, experiment in self.experiments.items():
            paper = self.papers[experiment.paper]
            asked = paper.raw["experiments"][name.removeprefix(f"{paper.name}_")].get("together", False)
            if self.scale == "quick" or (asked and self.scale == "smoke"):
                found[name] = paper.experiment_blocks(name)
        return found

    def alone(self) -> list[str]:
        """Experiments whose blocks are a job each."""
        return [name for name in self.experiments if name not in self.together()]

    def traces_of(self, paper: str, experiments: list[str]) -> list[str]:
        return [
            self.trace(b) for e in experiments for b in self.papers[paper].experiment_blocks(f"{paper}_{e}")
        ]

    def references_of(self, paper: str, experiments: list[str]) -> list[str]:
        return [self.reference(f"{paper}_{e}") for e in experiments]

    def read_files(self, paper: str, experiments: list[str]) -> list[str]:
        """What figures and claims about these experiments read."""
        return self.traces_of(paper, experiments) + self.references_of(paper, experiments)

    def figure_files(self, paper: str, figure: str) -> list[str]:
        return [f"{self.results}/figures/{paper}/{figure}.{kind}" for kind in self.kinds]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The formats of a figure; PDF, the slowest of them to write, only at scale paper and on request."""
        return ("svg", "png", "pdf") if self.scale == "paper" else ("svg", "png")

    def figures(self) -> dict[str, list[str]]:
        """Target name -> files: `fedsplit_fig3a`, and `fedsplit_fig3` for all its lettered parts. What a figure was drawn
        from belongs to it: Snakemake does not miss a file between two that are there."""
        targets: dict[str, list[str]] = {}
        for name, paper in self.papers.items():
            for part in paper.raw["figures"]:
                experiments = paper.raw["figures"][part]["experiments"]
                files = self.figure_files(name, part) + self.read_files(name, experiments)
                targets.setdefault(f"{name}_{part}", []).extend(files)
                whole = re.sub(r"(?<=\d)[a-z]$", "", part)
                if whole != part:
                    targets.setdefault(f"{name}_{whole}", []).extend(files)
        return targets

    def all_figures(self, paper: str) -> list[str]:
        return [f for name in self.papers[paper].raw["figures"] for f in self.figure_files(paper, name)]

    def paper_files(self, paper: str) -> list[str]:
        """Everything one paper ends in, and what that was read from: each file, for Snakemake does not miss one that nobody
        asks for while another of the same job is there."""
        return [
            *self.all_figures(paper),
            *self.read_files(paper, self.papers[paper].raw["experiments"]),
            *self.datasets.pictures(paper),
            *(f"{self.results}/tables/{paper}_{name}" for name in TABLES),
            f"{self.results}/figures/claims/{paper}",
            *(f"{self.results}/notebooks/{paper}.{kind}" for kind in ("ipynb", "html")),
        ]

    @property
    def cost_files(self) -> list[str]:
        return [
            f"{self.results}/{name}"
            for name in ("tables/costs.csv", *(f"figures/costs.{k}" for k in self.kinds))
        ]

    # --- what a job depends on besides its input files: the script it starts and all that imports ---

    def code(self, script: str, *modules: str) -> str:
        return code_hash(f"workflow/scripts/{script}.py", *modules)

    def record(self, paper: str, *kinds: str) -> str:
        """The parts of a paper's YAML a report job shows, as plain JSON, in the order of the file."""
        return json.dumps([self.papers[paper].raw.get(k) for k in kinds])

    def problem_code(self, experiment: Experiment, script: str = "solve_reference") -> str:
        module = problems.get(experiment.problem).__module__
        return self.code(script, module)

    def block_code(self, block: Block) -> str:
        algorithm = algorithms.get(block.algorithm).__module__
        return self.code("run_block", problems.get(block.experiment.problem).__module__, algorithm)

    def figure_code(self, paper: str, name: str) -> str:
        return self.code("draw_figure", figure.names(paper)[name])

    def notebook_code(self, paper: str) -> str:
        """The modules of ours that its cells import."""
        path = Path(f"notebooks/{paper}.ipynb")
        try:
            cells = json.loads(path.read_text())["cells"]
            sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read ({error.strerror}); restore it") from None
        except (ValueError, LookupError, TypeError):
            raise ConfigError(f"{path}: not a notebook; restore it or save it again from Jupyter") from None
        modules = set()
        for source in sources:
            with contextlib.suppress(
                SyntaxError, ValueError
            ):  # Jupyter's own %commands: the kernel will judge
                modules |= imported(ast.parse(source))
        return self.code("execute_notebook", *sorted(modules))

    def claims_code(self, paper: str) -> str:
        return self.code("judge_claims", *modules(paper, claim.kind))

    # --- keys: what an output must have been made of, in files that the rules take as inputs ---

    def block_key(self, block: Block) -> str:
        return key_of(block.to_json(), self.block_code(block))

    def computed_key(self, paper: str) -> str:
        """One for all numbers of a paper: they come out the same as long as it does."""
        blocks = self.papers[paper].blocks
        experiments = {b.experiment.name: b.experiment for b in blocks}
        return key_of(
            *(self.block_key(b) for b in blocks), *(self.reference_key(e) for e in experiments.values())
        )

    def listed(self, blocks: list[Block]) -> str:
        """Blocks with where their traces go and the keys these carry, for a job that runs them all."""
        return json.dumps([[b.to_json(), self.trace(b), self.block_key(b)] for b in blocks])

    def reference_key(self, experiment: Experiment) -> str:
        return key_of(experiment.to_json(), self.problem_code(experiment))

    def expect(self) -> None:
        """Write the keys of everything that this configuration declares, and forget those of what it does not."""
        for experiment in self.experiments.values():
            path = Path(self.reference(experiment.name))
            key = self.reference_key(experiment)
            self.keys.expect(f"reference/{experiment.name}", key, path, partial(reference.key, path))
        for (experiment, name), block in self.blocks.items():
            path = Path(self.trace(block))
            carried = partial(self.carried, block, path)
            self.keys.expect(f"traces/{experiment}/{name}", self.block_key(block), path, carried)
        for name, paper in self.papers.items():
            for part, entry in paper.raw["figures"].items():
                words = json.dumps(entry, sort_keys=True)
                self.keys.expect(f"figures/{name}/{part}", key_of(words, self.figure_code(name, part)))
            self.keys.expect(
                f"claims/{name}", key_of(self.record(name, "claims", "slips"), self.claims_code(name))
            )
            self.keys.expect(f"notebooks/{name}", key_of(self.notebook_code(name)))
        self.keys.expect("notebooks/overview", key_of(self.notebook_code("overview")))
        known = {f"{experiment}/{name}" for experiment, name in self.blocks}

        def ours(name: str) -> bool:
            return name.partition("_")[0] in self.papers

        self.keys.forget("traces", known, ours)
        self.keys.forget("reference", set(self.experiments), ours)

    def carried(self, block: Block, path: Path) -> str:
        """The key in a trace, unless the data it was made from are no longer those that are decoded."""
        facts = trace.footer(path)
        for name in (block.experiment.dataset, *self.datasets.named_by(block.experiment)):
            meta = Path(f"data/decoded/{name}/meta.json")
            if meta.exists():
                with reading(meta):
                    known = json.loads(meta.read_text())["checksum"]
                if known not in facts.get("data_checksums", ""):
                    return "other data"
        return facts.get("key", "none")

    def made(self) -> set[Path]:
        """All files of this scale's results that rules make; a folder among them stands for all in it."""
        files = {self.trace(b) for b in self.config.blocks} | {self.reference(e) for e in self.experiments}
        for paper in self.papers:
            files |= set(self.paper_files(paper))
            files |= {
                f"{self.results}/figures/{paper}/{name}.pdf" for name in self.papers[paper].raw["figures"]
            }
        files |= {
            f"{self.results}/{name}" for name in ("report/index.html", "claims.csv", "evidence.parquet")
        }
        files |= set(self.cost_files)
        files |= {f"{self.results}/notebooks/overview.{kind}" for kind in ("ipynb", "html")}
        return {Path(file) for file in files}

    def entry(self, paper: str, kind: str, name: str) -> dict:
        return self.papers[paper].raw[kind][name]
