"""What a finished run left behind, for figures, claims, notebooks and the report to read. Nothing here solves."""

import base64
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from fedrepro import reference, trace


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

    def trace_files(self, *experiments: str) -> list[Path]:
        self.check(*experiments)
        found = [p for e in experiments for p in sorted((self.folder / "traces" / e).glob("*.parquet"))]
        if not found:
            raise FileNotFoundError(
                f"no traces of {', '.join(experiments)} in {self.folder}/traces; "
                f"run snakemake --cores 2 --config scale={self.scale}"
            )
        return found

    @cache  # noqa: B019 — a Results lives as long as the job that reads it
    def traces(self, *experiments: str) -> pd.DataFrame:
        """All rows of these experiments (`fedsplit_fig1`), one row per recorded round of a cell."""
        return trace.read(*self.trace_files(*experiments))

    def point(self, experiment: str, algorithm: str) -> np.ndarray:
        """The final point that the block kept: that of its cell with the lowest first measure at the end."""
        facts = trace.footer(self.folder / "traces" / experiment / f"{algorithm}.parquet")
        return np.frombuffer(base64.b64decode(facts["point"]), "<f4")

    def ends(self, *experiments: str) -> pd.DataFrame:
        """The last row of every cell."""
        return last_rows(self.traces(*experiments))

    def reference(self, experiment: str) -> dict[tuple[str, int], dict]:
        self.check(experiment)
        return reference.read(self.folder / "reference" / f"{experiment}.npz")

    def origins(self, *experiments: str) -> dict[str, str]:
        """Dataset title -> data origin, of everything these experiments read."""
        rows = self.traces(*experiments)[["dataset", "data_origin"]].drop_duplicates()
        return dict(zip(rows["dataset"], rows["data_origin"], strict=True))

    def claims(self) -> pd.DataFrame:
        path = self.folder / "claims.csv"
        if not path.exists():
            raise FileNotFoundError(
                f"{path} is not there; run snakemake --cores 2 --config scale={self.scale}"
            )
        return pd.read_csv(path, keep_default_na=False)
