"""What a finished run left behind, for figures, claims, notebooks and the report to read. Nothing here solves."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from fedrepro.experiments import reference, trace
from fedrepro.experiments.reference import Reference

KEYS = "keys"  # the folder in which a run says what every trace and reference must have been made of


class Stale(FileNotFoundError):
    """A file that another configuration, other code or other data made: the one that is wanted is not there."""


def last_rows(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.groupby(["experiment", "setting", "algorithm", "params", "seed"], sort=False).tail(1)


@dataclass(frozen=True)
class Results:
    """The folder of one scale, `results/<scale>`."""

    folder: Path
    only: tuple[str, ...] | None = None  # the experiments a job declared it would read; None: all

    @property
    def scale(self) -> str:
        return self.folder.name

    def check(self, *experiments: str) -> None:
        """Reading what was not declared would depend on which jobs happen to have finished."""
        undeclared = sorted(set(experiments) - set(self.only if self.only is not None else experiments))
        if undeclared:
            raise LookupError(
                f"{undeclared[0]} is read but not listed under `experiments` in the paper's YAML"
            )

    def declared(self, experiments: list[str]) -> "Results":
        """The same run for a reader that may read these experiments only."""
        return Results(self.folder, tuple(experiments))

    def expected(self, kind: str, name: str) -> str:
        """The key that a trace (`fedsplit_fig1/fedgd`) or reference must carry."""
        path = self.folder / KEYS / kind / f"{name}.key"
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there: {self.remedy}")
        return path.read_text()

    @property
    def remedy(self) -> str:
        return f"run snakemake --cores 2 --config scale={self.scale}"

    def blocks(self, experiment: str) -> list[str]:
        """The blocks that the configuration declares; what else may lie in the folder is nobody's."""
        self.check(experiment)
        found = sorted(p.stem for p in (self.folder / KEYS / "traces" / experiment).glob("*.key"))
        if not found:
            raise FileNotFoundError(f"no traces of {experiment} are declared in {self.folder}: {self.remedy}")
        return found

    def trace_files(self, *experiments: str) -> list[Path]:
        """The declared traces of these experiments, each made as it is declared."""
        return [self.trace_file(e, block) for e in experiments for block in self.blocks(e)]

    def trace_file(self, experiment: str, block: str) -> Path:
        self.check(experiment)
        path = self.folder / "traces" / experiment / f"{block}.parquet"
        wanted = self.expected("traces", f"{experiment}/{block}")
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there: {self.remedy}")
        if (carried := trace.footer(path).get("key", "none")) != wanted:
            raise Stale(
                f"{path} was made by another configuration or other code (key {carried}, wanted {wanted}): {self.remedy}"
            )
        return path

    @cache  # noqa: B019 — a Results lives as long as the job that reads it
    def traces(self, *experiments: str) -> pd.DataFrame:
        """All rows of these experiments (`fedsplit_fig1`), one row per recorded round of a cell."""
        return trace.read(*self.trace_files(*experiments))

    def point(self, experiment: str, algorithm: str) -> np.ndarray:
        """The final point that the block kept: that of its cell with the lowest first measure at the end."""
        return trace.array(self.footer(experiment, algorithm)["point"])

    def geometry(self, experiment: str, algorithm: str) -> dict[str, np.ndarray]:
        """Where the coordinates of that point lie: the arrays the problem kept with it."""
        facts = self.footer(experiment, algorithm)
        known = {"point_params", "point_seed"}
        names = [k for k in facts if k.startswith("point_") and k not in known]
        return {k.removeprefix("point_"): trace.array(facts[k]) for k in names}

    def footer(self, experiment: str, algorithm: str) -> dict[str, str]:
        return trace.footer(self.trace_file(experiment, algorithm))

    def ends(self, *experiments: str) -> pd.DataFrame:
        """The last row of every cell."""
        return last_rows(self.traces(*experiments))

    def reference(self, experiment: str) -> dict[tuple[str, int], Reference]:
        self.check(experiment)
        path = self.folder / "reference" / f"{experiment}.npz"
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there: {self.remedy}")
        if reference.key(path) != self.expected("reference", experiment):
            raise Stale(f"{path} was made by another configuration or other code: {self.remedy}")
        return reference.read(path)

    def origins(self, *experiments: str) -> dict[str, str]:
        """Dataset title -> data origin, of everything these experiments read."""
        rows = self.traces(*experiments)[["dataset", "data_origin"]].drop_duplicates()
        return dict(zip(rows["dataset"], rows["data_origin"], strict=True))

    def claims(self, *papers: str) -> pd.DataFrame:
        """The verdicts of these papers, or of all that the run declares."""
        found = [self.folder / f"tables/{p}_claims.csv" for p in papers] or [self.folder / "claims.csv"]
        if missing := [path for path in found if not path.exists()]:
            raise FileNotFoundError(f"{missing[0]} is not there: {self.remedy}")
        return pd.concat([pd.read_csv(path, keep_default_na=False) for path in found], ignore_index=True)

    def strip(self, paper: str, claim: str) -> str:
        """The picture of a claim's evidence, as SVG."""
        return (self.folder / f"figures/claims/{paper}/{claim}.svg").read_text()

    def slips(self, paper: str) -> list[dict]:
        return pd.read_csv(self.folder / f"tables/{paper}_slips.csv", keep_default_na=False).to_dict(
            "records"
        )
