"""The arena's standings as one small file, for whoever wants a method scored without running everybody else's.

Of every run the rounds that scores are made of: its first, those that reached a target, its last. Costs, profiles and tables
come out as from whole traces. Traces and references keep the keys that say what they were made of.
"""

import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fedrepro.datasets.files import written
from fedrepro.experiments import trace
from fedrepro.experiments.results import KEYS, Results
from fedrepro.papers.arena.readings import CELL, EVERYTHING, arrivals

FILE = "arena.zip"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date a zip can hold: the same standings give the same bytes


def write(results: Results, output: Path) -> None:
    with written(output) as temporary, zipfile.ZipFile(temporary, "w") as archive:

        def put(name: str, content: bytes) -> None:
            archive.writestr(zipfile.ZipInfo(f"{results.scale}/{name}", EPOCH), content, zipfile.ZIP_DEFLATED)

        for experiment in EVERYTHING:
            results.reference(experiment)  # made as it is declared
            for name in (f"reference/{experiment}.npz", f"{KEYS}/reference/{experiment}.key"):
                put(name, (results.folder / name).read_bytes())
            for path in results.trace_files(experiment):
                put(f"traces/{experiment}/{path.name}", excerpt(path))
                key = f"{KEYS}/traces/{experiment}/{path.stem}.key"
                put(key, (results.folder / key).read_bytes())


def excerpt(path: Path) -> bytes:
    """A trace with the rounds that scores are made of."""
    table, rows = trace.whole_table(path), trace.read(path)
    kept = []
    for places in rows.groupby(CELL, sort=False).indices.values():
        cell = rows.iloc[places]
        kept += [places[i] for i in {0, *arrivals(cell).values(), len(cell) - 1} - {None}]
    sink = pa.BufferOutputStream()
    pq.write_table(table.take(np.sort(kept)), sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def opened(source: Path, folder: Path) -> Results:
    """The standings, unpacked into a folder."""
    try:
        with zipfile.ZipFile(source) as archive:
            archive.extractall(folder)
            (scale,) = {name.partition("/")[0] for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError):
        raise OSError(f"{source} is damaged: git checkout {source} brings it back") from None
    return Results(folder / scale)
