"""Numbers in comma-separated text, read strictly: every row complete, every cell a number."""

import io

import numpy as np

from fedrepro.datasets import DataError


def read_numbers(content: bytes, what: str, dtype, *, header: bool = False, drop: int = 0) -> np.ndarray:
    """The table as one array. `drop` leading columns are read as text and left out."""
    import pyarrow as pa
    from pyarrow import csv

    first = content[: content.find(b"\n")] if b"\n" in content else content
    width = first.count(b",") + 1
    names = [f"c{i}" for i in range(width)]
    number = pa.from_numpy_dtype(np.dtype(dtype))
    types = {name: pa.string() if i < drop else number for i, name in enumerate(names)}
    try:
        table = csv.read_csv(
            io.BytesIO(content),
            read_options=csv.ReadOptions(column_names=names, skip_rows=int(header), use_threads=False),
            # The publishers write ", " between cells in places; Arrow reads " 1.5" as the number it is.
            convert_options=csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
        )
    except (pa.ArrowException, ValueError, UnicodeDecodeError) as error:
        raise DataError(f"{what}: not a table of numbers ({str(error).splitlines()[0][:160]})") from None
    out = np.empty((table.num_rows, width - drop), dtype)
    for j in range(drop, width):
        column = table.column(j)
        if column.null_count:
            raise DataError(f"{what}: column {j + 1} has {column.null_count} empty cells")
        out[:, j - drop] = column.to_numpy()
    if out.dtype.kind == "f" and not np.isfinite(out).all():
        raise DataError(f"{what}: holds a value that is not finite")
    return out
