"""The arena's standings as one small file, for whoever wants a method scored without running everybody else's.

Of every run the rounds that scores are made of: its first, those that reached a target, its last. Costs, profiles and tables
come out as from whole traces. Traces and references keep the keys that say what they were made of.
"""

import io
import lzma
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fedrepro.datasets.files import written
from fedrepro.experiments import trace
from fedrepro.experiments.results import KEYS, Results
from fedrepro.papers.arena.readings import CELL, EVERYTHING, arrivals

FILE = "arena.tar.xz"


def write(results: Results, output: Path) -> None:
    """Packed as a whole: its many small tables are much alike. The same standings give the same bytes."""
    with written(output) as temporary, tarfile.open(temporary, "w:xz", preset=9) as archive:

        def put(name: str, content: bytes) -> None:
            entry = tarfile.TarInfo(f"{results.scale}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))

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
    pq.write_table(table.take(np.sort(kept)), sink, compression="none")
    return sink.getvalue().to_pybytes()


def opened(source: Path, folder: Path) -> Results:
    """The standings, unpacked into a folder."""
    try:
        with tarfile.open(source, "r:xz") as archive:
            (scale,) = {name.partition("/")[0] for name in archive.getnames()}
            archive.extractall(folder, filter="data")
    except (tarfile.TarError, lzma.LZMAError, EOFError, ValueError):
        raise OSError(f"{source} is damaged: git checkout {source} brings it back") from None
    return Results(folder / scale)
