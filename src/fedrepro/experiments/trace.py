"""Traces: tidy rows, one per recorded round of a cell, in parquet with provenance in the footer."""

import base64
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fedrepro.datasets.files import reading, written
from fedrepro.federation.ledger import COLUMNS as LEDGER

CLOCK = "seconds"  # the one column that differs between two runs of the same cell


class Trace:
    """Rows of one cell while it runs."""

    def __init__(self, measures: tuple[str, ...]):
        self.columns: dict[str, list] = {name: [] for name in ("round", *measures, *LEDGER, CLOCK)}

    def add(self, **row) -> None:
        for name, column in self.columns.items():
            column.append(row[name])

    def last(self, name: str):
        return self.columns[name][-1]

    def table(self, **labels) -> pa.Table:
        """The rows with constant columns in front: text, or numbers such as the seed."""
        n = len(self.columns["round"])
        names, arrays = [], []
        for name, value in labels.items():
            names.append(name)
            arrays.append(constant(value, n) if isinstance(value, str) else numbers([value] * n))
        for name, column in self.columns.items():
            names.append(name)
            arrays.append(numbers(column))
        return pa.Table.from_arrays(arrays, names=names)


# Arrow arrays are made from their buffers: pa.array() would load pandas into every solver job.


def numbers(column: list) -> pa.Array:
    values = np.ascontiguousarray(column)
    if values.dtype == bool:
        values = values.astype(np.int8)  # Arrow packs booleans into bits, NumPy into bytes
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def constant(text: str, n: int) -> pa.Array:
    """The same text n times, dictionary-encoded."""
    data = text.encode()
    offsets = pa.py_buffer(np.array([0, len(data)], np.int32))
    word = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(data)])
    kind = pa.dictionary(pa.int32(), pa.string())
    return pa.DictionaryArray.from_buffers(kind, n, [None, pa.py_buffer(np.zeros(n, np.int32))], word)


def write(path: str | Path, tables: list[pa.Table], footer: dict[str, str]) -> None:
    """Concatenate the cells."""
    whole = pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()
    whole = whole.replace_schema_metadata({f"fedrepro.{k}": v for k, v in footer.items()})
    with written(path) as temporary:
        pq.write_table(whole, temporary, compression="zstd")


def text(array: np.ndarray) -> str:
    """An array as text for a footer."""
    return f"{array.dtype.str} {list(array.shape)} {base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()}"


def array(text: str) -> np.ndarray:
    kind, shape, data = re.fullmatch(r"(\S+) \[(.*)\] (\S*)", text).groups()
    return np.frombuffer(base64.b64decode(data), kind).reshape([int(n) for n in shape.split(",") if n])


def footer(path: str | Path) -> dict[str, str]:
    with reading(path):
        metadata = pq.read_schema(path).metadata or {}
    return {
        k.decode().removeprefix("fedrepro."): v.decode()
        for k, v in metadata.items()
        if k.startswith(b"fedrepro.")
    }


def whole_table(path: str | Path) -> pa.Table:
    with reading(path):
        return pq.read_table(path)


def read(*paths: str | Path):
    """The traces as one pandas frame, labels as plain strings."""
    import pandas as pd

    tables = [whole_table(p) for p in paths]
    plain = [
        t.cast(
            pa.schema([f.with_type(pa.string()) if pa.types.is_dictionary(f.type) else f for f in t.schema])
        )
        for t in tables
    ]
    return pd.concat([t.to_pandas() for t in plain], ignore_index=True)
