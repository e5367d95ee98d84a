"""What must come out the same in every run, as digests: all that a run leaves behind, without its clocks."""

import hashlib
import re
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

CLOCK = "seconds"  # columns and quantities with this word in their name were timed

# The BLAS libraries that a process has loaded: a fork has its parent's as well, a job on a cluster has only those it imported.
LOADED = b"fedrepro.blas"

CHANCE = ("tables/costs.csv", "figures/costs.*")  # how long jobs took, every time anew

# What was really encrypted by CKKS: its noise is drawn anew every time, as it must be. Decryptions are rounded to decimals above
# it, the last of which is now and then another; these rows agree within this share of a column's largest.
NOISY, NOISE = "cipher=ckks", 1e-4

# What is drawn or judged from clocks is another where traces were timed anew: HyFDCA's claims about time (of the tables,
# their rows), its figures, the arena's profiles, and the pages that show them.
TIMED_CLAIMS = {"D2", "D4"}
TIMED_FIGURES = ("figs1", "figs1_vector", "fig4", "table72", "encrypted", "sealed", "cost", "attack")
TIMED = (
    *(f"figures/hyfdca/{name}.*" for name in TIMED_FIGURES),
    *(f"figures/claims/hyfdca/{claim}.*" for claim in TIMED_CLAIMS),
    "figures/arena/profiles.*",
    "notebooks/arena.*",
    "notebooks/hyfdca.*",
    "notebooks/overview.*",
    "report/index.html",
)


def digests(results: Path, timed_anew: bool = True) -> dict[str, str]:
    """File -> digest of what it says."""
    found = {}
    for path in sorted(results.rglob("*")):
        name = path.relative_to(results).as_posix()
        kept = path.is_file() and not name.startswith(("logs/", "keys/"))
        if kept and not any(fnmatch(name, pattern) for pattern in CHANCE + (TIMED if timed_anew else ())):
            found[name] = hashlib.sha256(content(path, timed_anew)).hexdigest()
    return found


def content(path: Path, timed_anew: bool) -> bytes:
    if timed_anew and path.name.endswith(("claims.csv", "evidence.parquet")):
        read = pd.read_csv if path.suffix == ".csv" else pd.read_parquet
        rows = read(path)
        timed = (rows.paper == "hyfdca") & rows["id" if path.suffix == ".csv" else "claim"].isin(TIMED_CLAIMS)
        return rows[~timed].to_csv().encode()
    if path.suffix == ".parquet":
        return trace_bytes(path)
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return b"".join(
                f"{name} {file[name].dtype} {file[name].shape}".encode() + file[name].tobytes()
                for name in sorted(file.files)
                if CLOCK not in name
            )
    if path.name == "index.html":  # the explorer's clocks lie apart, and so does what the jobs took
        page = re.sub(rb'(<script type="text/plain" id="clock-)[^<]*', rb"\1", path.read_bytes())
        return re.sub(rb'<section id="costs">.*?</section>', b"", page, flags=re.DOTALL)
    return path.read_bytes()


def trace_bytes(path: Path) -> bytes:
    """Rows and footer; text columns by their values, numbers by their bits, but for measures under noise."""
    table = pq.read_table(path)
    footer = {k: v for k, v in (table.schema.metadata or {}).items() if k != LOADED}
    parts = [repr(sorted(footer.items())).encode()]
    noisy = under_noise(table.to_pandas())
    for name in table.column_names:
        if CLOCK not in name:
            values = table[name].combine_chunks().to_pandas().to_numpy()
            if values.dtype.kind == "f":
                values = np.where(noisy, 0.0, values)
            parts += [
                name.encode(),
                repr(list(values)).encode() if values.dtype == object else values.tobytes(),
            ]
    return b"".join(parts)


def under_noise(rows: pd.DataFrame) -> np.ndarray:
    return rows["setting"].str.contains(NOISY).to_numpy() if "setting" in rows else np.zeros(len(rows), bool)


def measured_under_noise(path: Path) -> pd.DataFrame:
    """Its numbers without clocks."""
    rows = pd.read_parquet(path)
    return rows.loc[under_noise(rows), [c for c in rows if CLOCK not in c]].select_dtypes("floating")


def apart(one: Path, other: Path) -> bool:
    """Whether two traces differ by more than the noise explains."""
    if one.suffix != ".parquet" or "traces" not in one.parts:
        return False
    left, right = measured_under_noise(one), measured_under_noise(other)
    return not np.allclose(right / left.abs().max(), left / left.abs().max(), 0.0, NOISE, equal_nan=True)


def differences(whole: Path, other: Path, part: bool = False, timed_anew: bool = True) -> list[str]:
    """The files in which two folders of results differ, or that only one of them has; a `part` has less than the whole."""
    left, right = digests(whole, timed_anew), digests(other, timed_anew)
    assert right
    names = right.keys() if part else left.keys() | right.keys()
    return sorted(
        name for name in names if left.get(name) != right.get(name) or apart(whole / name, other / name)
    )
