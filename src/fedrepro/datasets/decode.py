"""From the sources to data/decoded/<name>/: choose, parse, check, store.

Real data first, then the named relative, then the stand-in; `meta.json` is written last and says which it
was.
"""

import importlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse

from fedrepro.datasets import DECODED, DataError, Decoded, content_checksum, sample_of
from fedrepro.datasets.transport.download import locked, write_atomically
from fedrepro.datasets.transport.sources import Found, Sources, check_space
from fedrepro.maths.seeds import stream

VOUCHERS = {"content", "beginning", "inside"}  # what a variant may pin of what its files decode to, or hold


def prepare(
    name: str,
    catalogue: dict,
    root: str | Path = "data",
    policy: str = "auto",
    may_download: frozenset[str] | None = None,
) -> dict:
    """Decode one dataset of the catalogue (`catalogue.declared()`) under `root`; return its meta and how the search went.

    may_download: the files the download limit lets through (`sources.affordable`); None for no limit.
    policy: auto (the best there is), real (anything else is an error), standin (nothing else is looked at).
    """
    root = Path(root)
    entry = catalogue["datasets"][name]
    sources = Sources(catalogue["files"], root, may_download)
    kinds = {"auto": ("real", "relative"), "real": ("real",), "standin": ()}[policy]
    for kind in kinds:
        for variant in entry["variants"]:
            if variant["kind"] != kind:
                continue
            result = attempt(name, entry, variant, sources)
            if result is not None:
                return store(name, entry, variant, *result, policy=policy, sources=sources)
    if policy == "real":
        files = [
            file for variant in entry["variants"] if variant["kind"] == "real" for file in variant["files"]
        ]
        raise DataError(
            "\n  ".join([
                f"{name}: the real dataset ({entry['title']}) cannot be had here, as `data: real` demands.",
                *(f"tried {line}" for line in sources.tried),
                *(sources.how_to_get(file) for file in files),
            ])
        )  # fmt: skip
    standin = entry["standin"]
    decoded = function_of(standin["generator"])(stream(0, "standin", name))
    variant = {"kind": "standin", "title": f"{entry['title']} (stand-in)", "expect": standin["expect"]}
    check(decoded, variant["expect"], f"{name} stand-in")
    return store(name, entry, variant, decoded, [], policy=policy, sources=sources)


def attempt(name: str, entry: dict, variant: dict, sources: Sources) -> tuple[Decoded, list[Found]] | None:
    """The variant decoded and checked, or None when a file is missing or is not what it should be."""
    limits = {file: sources.files[file]["unpacked_mb"] for file in variant["files"]}
    for found in combinations(variant["files"], sources, vouched=bool(VOUCHERS & variant.keys())):
        try:
            decoded = function_of(variant["parser"])({f.file: f.path for f in found}, limits)
            check(decoded, variant["expect"], variant.get("title", entry["title"]))
            check_content(decoded, variant)
        except (DataError, OSError) as error:  # OSError: parsers of archives need room on the disk
            doubtful = [f for f in found if f.doubt]
            for f in doubtful:
                sources.pass_over(f, f"{f.doubt}; packed anew it is not either: {error}")
            if not doubtful:
                sources.tried.append(f"{name} from {', '.join(f.place for f in found)}: {error}")
        else:
            return decoded, found
    return None


def combinations(files: list[str], sources: Sources, vouched: bool) -> Iterator[list[Found]]:
    """One of each file, in the order in which they are found; mostly the first is the last."""
    if not files:
        yield []
        return
    first, *others = files
    for found in sources.candidates(first, vouched):
        tried = False
        for more in combinations(others, sources, vouched):
            tried = True
            yield [found, *more]
        if found.doubt and not tried:
            sources.pass_over(found, found.doubt)


def check_content(decoded: Decoded, variant: dict) -> None:
    """Against the pinned sha256 of what it decodes to: of all, or of the rows we know."""
    pinned = [(variant["content"], len(decoded.y), "content")] if "content" in variant else []
    if "beginning" in variant:
        rows = variant["beginning"]["rows"]
        pinned.append((variant["beginning"]["content"], rows, f"content of the first {rows:,} rows"))
    for expected, rows, what in pinned:
        groups = None if decoded.groups is None else decoded.groups[:rows]
        checksum = content_checksum(Decoded(decoded.X[:rows], decoded.y[:rows], groups))
        if checksum != expected:
            raise DataError(f"expected {what} sha256 {expected}, found {checksum}")


def function_of(path: str):
    """`covtype.parse` is fedrepro.datasets.covtype.parse."""
    module, _, function = path.rpartition(".")
    return getattr(importlib.import_module(f"fedrepro.datasets.{module}"), function)


def check(decoded: Decoded, expect: dict, what: str) -> None:
    """Shape, range and counts as declared: all that vouches for a file without a published digest."""
    X, y = decoded.X, decoded.y
    values = X.data if scipy.sparse.issparse(X) else X
    facts = {
        "rows": lambda: X.shape[0],
        "columns": lambda: X.shape[1],
        "nonzeros": lambda: int(X.nnz),
        "low": lambda: float(values.min()),
        "high": lambda: float(values.max()),
        "classes": lambda: len(np.unique(y)),
        "counts": lambda: {int(k): int(v) for k, v in zip(*np.unique(y, return_counts=True), strict=True)},
        "y_low": lambda: float(y.min()),
        "y_high": lambda: float(y.max()),
        "groups": lambda: len(np.unique(decoded.groups)),
        "test_rows": lambda: int(decoded.split.sum()),
    }
    lengths = {len(a) for a in (y, decoded.groups, decoded.split) if a is not None}
    if lengths != {X.shape[0]}:
        raise DataError(
            f"{what}: {X.shape[0]} rows of X beside {sorted(lengths)} labels, groups or split marks"
        )
    for key, expected in expect.items():
        found = facts[key]()
        if key == "counts":
            expected = {
                int(label): count for label, count in expected.items()
            }  # JSON has no integers for keys
        if found != expected:
            raise DataError(f"{what}: expected {key} {expected}, found {found}")


def store(
    name, entry, variant, decoded: Decoded, found: list[Found], *, policy: str, sources: Sources
) -> dict:
    """Write the arrays, then meta.json: a folder with a meta.json is complete. Nothing in it depends on the
    clock."""
    folder = sources.root / DECODED / name
    arrays = as_arrays(decoded)
    check_space(folder, sum(a.nbytes for a in arrays.values()) + (1 << 20), name)
    places = [f.place for f in found]
    origin = (
        variant["kind"] if variant["kind"] != "real" else max(places, key=("publisher mirror package").find)
    )
    labels = decoded.y.dtype.kind in "iu" and len(np.unique(decoded.y)) <= 100
    meta = {
        "name": name,
        "title": variant.get("title", entry["title"]),
        "origin": origin,
        "rows": int(decoded.X.shape[0]),
        "columns": int(decoded.X.shape[1]),
        "classes": len(np.unique(decoded.y)) if labels else 0,
        "groups": 0 if decoded.groups is None else len(np.unique(decoded.groups)),
        "bytes": sum(a.nbytes for a in arrays.values()),
        "checksum": content_checksum(decoded),
        "verified": verdict(variant, found),
        "licence": variant.get("licence", entry["licence"]),
        "citation": variant.get("citation", entry["citation"]),
        "notes": variant.get("notes", ""),
        "files": [{"file": f.file, "place": f.place, "sha256": f.sha256} for f in found],
        "arrays": {key: {"shape": list(a.shape), "sample": sample_of(a)} for key, a in arrays.items()},
    }
    search = {"policy": policy, "tried": sources.tried, "how_to_get": []}
    search["may_download"] = sorted(sources.files if sources.may_download is None else sources.may_download)
    if variant["kind"] != "real":
        real = [file for v in entry["variants"] if v["kind"] == "real" for file in v["files"]]
        search["how_to_get"] = [sources.how_to_get(file) for file in real]
    with locked(folder):
        (folder / "meta.json").unlink(missing_ok=True)
        for stale in folder.glob("*.npy"):
            if stale.stem not in arrays:
                stale.unlink()
        for key, array in arrays.items():
            write_array(folder / f"{key}.npy", array)
        # Apart from meta.json, which everything depends on: how the search went must not make solvers rerun.
        write_atomically(folder / "search.json", (json.dumps(search, indent=1) + "\n").encode())
        write_atomically(folder / "meta.json", (json.dumps(meta, indent=1) + "\n").encode())
    return meta | search


def verdict(variant: dict, found: list[Found]) -> str:
    """What vouches for the data."""
    if variant["kind"] == "standin":
        return "generated"
    if "content" in variant:
        return "pinned content"
    if all(f.verified for f in found):
        return "pinned file"
    if "beginning" in variant:
        return f"pinned content of the first {variant['beginning']['rows']:,} rows"
    return "pinned files in the archive" if "inside" in variant else "shape, ranges and counts"


def as_arrays(decoded: Decoded) -> dict[str, np.ndarray]:
    X = decoded.X
    if scipy.sparse.issparse(X):
        arrays = {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr}
    else:
        arrays = {"X": np.ascontiguousarray(X)}
    arrays["y"] = decoded.y
    for key in ("groups", "split"):
        if (value := getattr(decoded, key)) is not None:
            arrays[key] = value
    return arrays | decoded.extra


def write_array(path: Path, array: np.ndarray) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            np.lib.format.write_array(out, np.ascontiguousarray(array), allow_pickle=False)
        part.replace(path)
    except OSError as error:  # numpy's has no errno when the disk fills up under it
        reason = error.strerror or "disk full"
        raise DataError(f"{path}: cannot be written ({reason}); make room and run again") from None
    finally:
        part.unlink(missing_ok=True)
