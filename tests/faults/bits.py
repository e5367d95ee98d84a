"""What must come out the same in every run, as digests: all that a run leaves behind, without its clocks."""

import hashlib
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

CLOCK = "seconds"  # columns and quantities with this word in their name were timed

# Files that hold times or random keys, and why; whatever is made from them cannot be the same twice either.
CHANCE: dict[str, str] = {
    "tables/costs.csv": "times and memory of the jobs",
    "figures/costs.*": "drawn from them",
}


def digests(results: Path) -> dict[str, str]:
    """File -> digest of what it says."""
    found = {}
    for path in sorted(results.rglob("*")):
        name = path.relative_to(results).as_posix()
        kept = path.is_file() and not name.startswith(("logs/", "keys/"))
        if kept and not any(fnmatch(name, pattern) for pattern in CHANCE):
            found[name] = hashlib.sha256(content(path)).hexdigest()
    return found


def content(path: Path) -> bytes:
    if path.suffix == ".parquet":
        return trace_bytes(path)
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return b"".join(
                f"{name} {file[name].dtype} {file[name].shape}".encode() + file[name].tobytes()
                for name in sorted(file.files)
                if CLOCK not in name
            )
    return path.read_bytes()


def trace_bytes(path: Path) -> bytes:
    """Rows and footer; text columns by their values, numbers by their bits."""
    table = pq.read_table(path)
    parts = [repr(sorted((table.schema.metadata or {}).items())).encode()]
    for name in table.column_names:
        if CLOCK not in name:
            values = table[name].combine_chunks().to_pandas().to_numpy()
            parts += [
                name.encode(),
                repr(list(values)).encode() if values.dtype == object else values.tobytes(),
            ]
    return b"".join(parts)


def differences(whole: Path, other: Path, part: bool = False) -> list[str]:
    """The files in which two folders of results differ, or that only one of them has; a `part` has less than the whole."""
    left, right = digests(whole), digests(other)
    assert right
    names = right.keys() if part else left.keys() | right.keys()
    return sorted(name for name in names if left.get(name) != right.get(name))
