"""Real datasets: what the rest of the library sees of them.

`load` reads what the rule `decode` left in data/decoded/<name>/ and never touches the network. Where the
bytes came from travels with the data as `origin`, so that no figure or claim can forget it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse

ORIGINS = ("publisher", "mirror", "package", "relative", "standin")
DECODED = "decoded"  # the folder under the data root


class DataError(Exception):
    """Bytes that are missing, or are not what they should be; the message says what to do."""


@dataclass
class Decoded:
    """What a parser or a stand-in generator returns, before it is checked and stored."""

    X: np.ndarray | scipy.sparse.csr_array
    y: np.ndarray
    groups: np.ndarray | None = None
    split: np.ndarray | None = None
    extra: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Dataset:
    name: str
    title: str  # what the rows really are, for figures
    X: np.ndarray | scipy.sparse.csr_array  # memory-mapped; raw decoded values
    y: np.ndarray  # labels or response
    groups: np.ndarray | None  # writer, session, … of each row
    split: np.ndarray | None  # 0 train, 1 test, where the publisher or the paper has a split
    origin: str  # one of ORIGINS
    checksum: str  # sha256 of X, y and groups
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)  # e.g. where Haxby's voxels lie

    @property
    def train(self) -> np.ndarray:
        """The rows to learn from: all of them where there is no split."""
        return np.arange(len(self.y)) if self.split is None else np.flatnonzero(self.split == 0)

    @property
    def test(self) -> np.ndarray:
        return np.arange(0) if self.split is None else np.flatnonzero(self.split == 1)


def content_checksum(decoded: Decoded) -> str:
    """sha256 of X, y and groups: what is pinned, since two compressions of one text are the same data."""
    digest = hashlib.sha256()
    X = decoded.X
    arrays = [X.indptr, X.indices, X.data] if scipy.sparse.issparse(X) else [X]
    for array in [*arrays, decoded.y, *([] if decoded.groups is None else [decoded.groups])]:
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        digest.update(f"{array.dtype.str}{list(array.shape)}".encode())
        digest.update(memoryview(array).cast("B"))
    return digest.hexdigest()


SAMPLES, PIECE = 64, 4096  # pieces of an array that are looked at whenever it is mapped, and their bytes


def sample_of(array: np.ndarray) -> str:
    """sha256 of an array's type, shape and some of its bytes, evenly spread: cheap enough for every job that maps it.
    `content_checksum` looks at all of them, when asked to (`snakemake verify`)."""
    digest = hashlib.sha256(f"{array.dtype.str}{list(array.shape)}".encode())
    flat = np.reshape(array, -1)
    size = max(1, PIECE // array.dtype.itemsize)
    for start in np.unique(np.linspace(0, max(0, flat.size - size), SAMPLES).astype(np.int64)):
        digest.update(np.ascontiguousarray(flat[start : start + size]).tobytes())
    return digest.hexdigest()


def verify(name: str, root: str | Path = "data") -> str:
    """Every byte of a decoded dataset against its checksum: a sentence, or a DataError."""
    dataset = load(name, root)
    whole = Decoded(dataset.X, dataset.y, dataset.groups)
    if content_checksum(whole) != dataset.checksum:
        folder = Path(root) / DECODED / name
        raise DataError(f"{folder}: not what was decoded; remove it and run `snakemake --cores 2 data`")
    return f"{name}: {dataset.X.shape[0]:,} rows of {dataset.title}, as decoded"


def load(name: str, root: str | Path = "data") -> Dataset:
    """The decoded dataset `name`, memory-mapped. Only data/decoded/<name>/ is read."""
    folder = Path(root) / DECODED / name
    try:
        meta = json.loads((folder / "meta.json").read_text())
    except FileNotFoundError:
        command = f"snakemake --cores 2 {folder / 'meta.json'}"
        others = ", ".join(sorted(p.parent.name for p in folder.parent.glob("*/meta.json"))) or "none"
        raise DataError(f"no dataset '{name}' is decoded (these are: {others}): run `{command}`") from None
    arrays = {}
    again = f"remove {folder} and run `snakemake --cores 2 data`"
    for key, known in meta["arrays"].items():
        path = folder / f"{key}.npy"
        try:
            arrays[key] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: {error}; {again}") from None
        if list(arrays[key].shape) != known["shape"]:
            shape = list(arrays[key].shape)
            raise DataError(f"{path}: shape {shape} where meta.json says {known['shape']}; {again}")
        if sample_of(arrays[key]) != known["sample"]:
            raise DataError(f"{path}: other numbers than those that were decoded; {again}")
    if "X" in arrays:
        X = arrays.pop("X")
    else:
        parts = tuple(arrays.pop(f"X_{part}") for part in ("data", "indices", "indptr"))
        X = scipy.sparse.csr_array(parts, shape=(meta["rows"], meta["columns"]), copy=False)
    return Dataset(
        name=name,
        title=meta["title"],
        X=X,
        y=arrays.pop("y"),
        groups=arrays.pop("groups", None),
        split=arrays.pop("split", None),
        origin=meta["origin"],
        checksum=meta["checksum"],
        extra=arrays,
    )
