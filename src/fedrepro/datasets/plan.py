"""What the data rules ask: which files, parameters and code a dataset or partition depends on."""

import json
from pathlib import Path

from fedrepro.config import Config, at_scale
from fedrepro.datasets import DECODED
from fedrepro.datasets.catalogue import declared
from fedrepro.datasets.sources import affordable
from fedrepro.provenance import code_hash


class DataPlan:
    """The catalogue and the papers' partitions, for one configuration."""

    def __init__(self, config: Config):
        self.config = config
        self.files = declared()["files"]
        self.datasets = declared()["datasets"]
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
        modules = sorted({f"fedrepro.datasets.{path.split('.')[0]}" for path in paths})
        return code_hash("fedrepro.datasets.decode", *modules)

    def with_pca(self) -> list[str]:
        return [name for name, entry in self.datasets.items() if "pca" in entry]

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
        entry = self.partitions[paper, name].get("parameters", {})
        return json.dumps({k: at_scale(v, self.config.scale) for k, v in entry.items()}, sort_keys=True)

    def seeds(self, paper: str, name: str) -> int:
        """As many as the most demanding block that uses it."""
        wanted = [b.seeds for b in self.config.blocks if (b.paper, b.partition) == (paper, name)]
        return max(wanted, default=self.config.seeds[self.config.scale])
