"""Two folders of results beside each other: what is missing, which numbers differ and by how much, clocks apart."""

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from fedrepro.experiments import trace

CLOCKS = (
    trace.CLOCK,
    "seconds",
)  # a column or quantity with such a name was timed: it never comes out the same twice


def differences(one: Path, other: Path, tolerance: float = 0.0) -> Iterator[str]:
    """A sentence for everything in which two folders `results/<scale>` differ by more than `tolerance`, relative to the
    larger of two numbers. Zero asks for the same bits."""
    for kind, compare in (
        ("traces/**/[!.]*.parquet", traces), ("reference/[!.]*.npz", arrays), ("tables/*_claims.csv", verdicts),
    ):  # fmt: skip
        names = [{p.relative_to(folder) for p in folder.glob(kind)} for folder in (one, other)]
        for name in sorted(names[0] ^ names[1]):
            yield f"{name}: only in {one if name in names[0] else other}"
        repeated: dict[str, list] = {}
        for name in sorted(names[0] & names[1]):
            for words in compare(one / name, other / name, tolerance):
                if words.startswith("column "):
                    repeated.setdefault(words, []).append(name)
                else:
                    yield f"{name}: {words}"
        yield from (f"{words}, in {len(found)} files like {found[0]}" for words, found in repeated.items())


def sorted_out(sentences: Iterable[str]) -> dict[str, list[str]]:
    """What a reader wants to know first: verdicts that changed, then what is missing, then numbers that differ."""
    found: dict[str, list[str]] = {
        "verdicts that changed": [],
        "missing": [],
        "numbers beyond the tolerance": [],
    }
    for sentence in sentences:
        if "_claims.csv: " in sentence:
            found["verdicts that changed"].append(sentence)
        elif re.search(r"\bonly in\b", sentence):
            found["missing"].append(sentence)
        else:
            found["numbers beyond the tolerance"].append(sentence)
    return found


def traces(one: Path, other: Path, tolerance: float) -> Iterator[str]:
    """Cell by cell, column by column."""
    left, right = (trace.read(path) for path in (one, other))
    for name in sorted(set(left.columns) ^ set(right.columns)):
        yield f"column {name} only in the {'first' if name in left else 'second'}"
    keys = ["setting", "params", "seed"]
    cells = [dict(list(rows.groupby(keys, sort=False))) for rows in (left, right)]
    for key in sorted(cells[0].keys() ^ cells[1].keys()):
        yield f"cell {key} only in {one if key in cells[0] else other}"
    shared = [c for c in left.columns if c in right and not any(clock in c for clock in CLOCKS)]
    for key in sorted(cells[0].keys() & cells[1].keys()):
        a, b = cells[0][key], cells[1][key]
        if len(a) != len(b):
            yield f"cell {key}: {len(a)} rows and {len(b)} rows"
            continue
        for name in shared:
            if words := apart(a[name].to_numpy(), b[name].to_numpy(), tolerance):
                yield f"cell {key}, {name}: {words}"


def arrays(one: Path, other: Path, tolerance: float) -> Iterator[str]:
    with np.load(one, allow_pickle=False) as left, np.load(other, allow_pickle=False) as right:
        for name in sorted(set(left.files) ^ set(right.files)):
            yield f"{name} only in {one if name in left.files else other}"
        for name in sorted(
            (set(left.files) & set(right.files)) - {"key"}
        ):  # other code may give the same numbers
            timed = any(clock in name for clock in CLOCKS)
            if not timed and (words := apart(left[name], right[name], tolerance)):
                yield f"{name}: {words}"


def verdicts(one: Path, other: Path, tolerance: float) -> Iterator[str]:
    left, right = (
        {row["id"]: row for row in csv.DictReader(path.read_text().splitlines())} for path in (one, other)
    )
    for name in sorted(left.keys() | right.keys()):
        found = [table[name]["verdict"] if name in table else "absent" for table in (left, right)]
        if found[0] != found[1]:
            yield f"{name}: {found[0]} and {found[1]}"


def apart(a: np.ndarray, b: np.ndarray, tolerance: float) -> str:
    """How two columns differ, or '' where they do not."""
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
        different = np.array([str(x) != str(y) for x, y in zip(a.ravel(), b.ravel(), strict=True)])
        return f"{different.sum()} of {a.size} entries differ" if different.any() else ""
    a, b = a.astype(float).ravel(), b.astype(float).ravel()
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.where(same, 0.0, np.abs(a - b) / np.maximum(np.abs(a), np.abs(b)))
    off = np.where(np.isnan(off), np.inf, off)
    largest = off.max(initial=0.0)
    return f"relative difference up to {largest:.1e}" if largest > tolerance else ""
