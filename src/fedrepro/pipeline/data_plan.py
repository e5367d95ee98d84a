"""What the data rules ask: which files, parameters and code a dataset or partition depends on."""

import json
from pathlib import Path

from fedrepro.datasets import DECODED
from fedrepro.datasets.partition import variant_of
from fedrepro.datasets.transport.sources import affordable
from fedrepro.experiments.experiment import Experiment, at_scale
from fedrepro.pipeline.catalogue import catalogue_path, declared
from fedrepro.pipeline.code import code_hash
from fedrepro.pipeline.config import Config


class DataPlan:
    """The catalogue and the papers' partitions, for one configuration."""

    def __init__(self, config: Config):
        self.config = config
        catalogue = declared(catalogue_path(config.root))
        self.files, self.datasets = catalogue["files"], catalogue["datasets"]
        self.partitions = {
            (paper.name, name): entry
            for paper in config.papers.values()
            for name, entry in paper.raw.get("partitions", {}).items()
        }

    # --- a dataset ---

    def files_of(self, dataset: str) -> list[str]:
        return sorted({file for variant in self.datasets[dataset]["variants"] for file in variant["files"]})

    def may_download(self, dataset: str) -> str:
        """Which of its files the download limit lets through; at scale paper there is no limit.

        What was let through once stays so: going back to a smaller scale must not decode the data anew.
        """
        files = set(self.files_of(dataset))
        search = Path("data", DECODED, dataset, "search.json")
        if self.config.scale != "paper":
            before = json.loads(search.read_text()).get("may_download", []) if search.exists() else []
            files &= affordable(self.files, self.config.download_limit_mb) | set(before)
        return ",".join(sorted(files))

    def declaration(self, dataset: str) -> str:
        """All that datasets.yaml says of it, the files included: a new digest or address decodes it again."""
        files = {file: self.files[file] for file in self.files_of(dataset)}
        return json.dumps([self.datasets[dataset], files], sort_keys=True)

    def code_of(self, dataset: str) -> str:
        entry = self.datasets[dataset]
        paths = [*(variant["parser"] for variant in entry["variants"]), entry["standin"]["generator"]]
        modules = sorted({f"fedrepro.datasets.{path.rpartition('.')[0]}" for path in paths})
        return code_hash("workflow/scripts/fetch.py", *modules)

    def with_pca(self) -> list[str]:
        return [name for name, entry in self.datasets.items() if "pca" in entry]

    def named_by(self, experiment: Experiment) -> list[str]:
        """The datasets of the catalogue that settings name as their `data`."""
        return sorted({s["data"] for s in experiment.settings if s.get("data") in self.datasets})

    # --- a partition ---

    def papers(self) -> list[str]:
        return sorted({paper for paper, _ in self.partitions})

    def names(self, paper: str) -> list[str]:
        return [name for owner, name in self.partitions if owner == paper]

    def parts(self, paper: str) -> list[str]:
        return [f"data/parts/{self.config.scale}/{paper}/{name}.npz" for name in self.names(paper)]

    def pictures(self, paper: str) -> list[str]:
        folder = f"results/{self.config.scale}/figures/partitions"
        return [f"{folder}/{paper}_{name}.{kind}" for name in self.names(paper) for kind in ("svg", "png")]

    def parameters(self, paper: str, name: str) -> str:
        """Variant -> the scheme's parameters, as JSON. Those that an experiment's setting decides have as many variants
        as the settings of all experiments that use the partition."""
        entry = self.partitions[paper, name].get("parameters", {})
        fixed = {k: at_scale(v, self.config.scale) for k, v in entry.items() if "setting" not in v}
        open_ = self.from_setting(paper, name)
        settings = [s for e in self.experiments(paper, name) for s in e.settings] if open_ else [{}]
        chosen = [{k: setting[v] for k, v in open_.items()} for setting in settings]
        return json.dumps({variant_of(c): fixed | c for c in chosen}, sort_keys=True)

    def from_setting(self, paper: str, name: str) -> dict[str, str]:
        """The scheme's parameters that an experiment's setting decides, and what they are called there."""
        entry = self.partitions[paper, name].get("parameters", {})
        return {k: v["setting"] for k, v in entry.items() if "setting" in v}

    def experiments(self, paper: str, name: str) -> list[Experiment]:
        """Those that use a partition."""
        found = {b.experiment.name: b.experiment for b in self.config.papers[paper].blocks}
        return [e for e in found.values() if e.partition == name]

    def seeds(self, paper: str, name: str) -> int:
        """As many as the most demanding experiment that uses it."""
        wanted = [e.seeds for e in self.experiments(paper, name)]
        return max(wanted, default=self.config.seeds[self.config.scale])
