"""Evidence: what a claim returns, row by row, and nothing else. The verdict is made of it by one rule (verdicts.py).

    @claim("S8")
    def S8(results):
        '''Rounds of FedGD at the largest condition number, by stepsize and start.'''
        for (step, start), cells in …:
            yield from rows_by_seed(cells, "round", step=step, start=start)

A *reading* is one way to settle everything the paper leaves open: choice -> value, in words a reader understands.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from fedrepro.datasets.files import written

REAL, RELATIVE, STANDIN = "real", "relative", "standin"
COLUMNS = ("paper", "claim", "part", "reading", "seed", "value", "censored", "origin")


@dataclass(frozen=True)
class Row:
    """One measured number."""

    value: float
    seed: int = 0
    part: str = ""  # which part of the claim, where it says several things
    origin: str = "synthetic"  # of the data it was measured on
    censored: str = ""  # `at least` or `at most`, where a run ended before the number was known
    reading: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Data of the paper (or drawn as it says), a relative of them, or a stand-in."""
        return self.origin if self.origin in (RELATIVE, STANDIN) else REAL


def row(value, *, seed=0, part="", origin="synthetic", censored="", **reading) -> Row:
    """A row of evidence; what is not named here is a choice of the reading."""
    words = {choice.replace("_", " "): str(chosen) for choice, chosen in sorted(reading.items())}
    return Row(float(value), int(seed), part, origin, censored, words)


def rows_by_seed(cells: pd.DataFrame, column: str, **about) -> Iterator[Row]:
    """A row for every seed of some cells, one line each: the value in `column`."""
    for seed, value in zip(cells["seed"], cells[column], strict=True):
        yield row(value, seed=seed, origin=origin_of(cells), **about)


def origin_of(*frames: pd.DataFrame) -> str:
    """The origin of data in these rows of traces that counts: a stand-in before a relative before the real ones."""
    found = sorted({origin for frame in frames for origin in frame["data_origin"].unique()})
    return next((kind for kind in (STANDIN, RELATIVE) if kind in found), found[0] if found else "synthetic")


def table(paper: str, found: dict[str, list[Row]]) -> pd.DataFrame:
    """claim -> rows, as a frame."""
    lines = [
        (paper, claim, r.part, json.dumps(r.reading, sort_keys=True, ensure_ascii=False), r.seed, r.value, r.censored, r.origin)
        for claim, rows in found.items()
        for r in rows
    ]  # fmt: skip
    frame = pd.DataFrame(lines, columns=COLUMNS)
    return frame.astype({"seed": np.int64, "value": float})


def write(path: Path, frames: Iterable[pd.DataFrame]) -> None:
    whole = pd.concat(list(frames), ignore_index=True)
    with written(path) as temporary:
        whole.to_parquet(temporary, index=False, compression="zstd")


def read(path: Path) -> dict[tuple[str, str], list[Row]]:
    """(paper, claim) -> rows."""
    found: dict[tuple[str, str], list[Row]] = {}
    for line in pd.read_parquet(path).itertuples(index=False):
        one = Row(line.value, line.seed, line.part, line.origin, line.censored, json.loads(line.reading))
        found.setdefault((line.paper, line.claim), []).append(one)
    return found
