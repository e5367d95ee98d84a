"""What all benchmarks share: a clock, what the machine itself would take for the same numbers, and a line of the table."""

import csv
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np


def seconds(work: Callable, repeat: int = 1, best_of: int = 3) -> float:
    """Processor time of `work`, the best of a few timings: on one thread it is the clock's, less other people's work."""
    best = np.inf
    for _ in range(best_of):
        begin = time.process_time()
        for _ in range(repeat):
            work()
        best = min(best, (time.process_time() - begin) / repeat)
    return best


def reading(size: float) -> float:
    """Seconds to read so many bytes once, by BLAS's inner product of an array as large, in whichever cache it fits."""
    array = np.ones(max(1, int(size // 8)))
    return seconds(lambda: array.dot(array), max(1, int(2e7 // size)))


def multiplying(batch: int, sizes: tuple[int, ...]) -> float:
    """Seconds of a batch's products with the kernels of dense layers, by BLAS in float32: forwards, and backwards to what
    entered and to the kernel."""
    total = 0.0
    for a, b in pairwise(sizes):
        x, slope, W = (np.ones(shape, np.float32) for shape in ((batch, a), (batch, b), (a, b)))
        total += seconds(lambda x=x, slope=slope, W=W: (x @ W, slope @ W.T, x.T @ slope), 20)
    return total


def line(
    what: str, ours: float, plain: float | None = None, bound: float | None = None, of: str = ""
) -> dict:
    """A line of the table, in seconds; `of` says what the bound is. No bound, no share of it."""
    return {
        "what": what,
        "ours": ours,
        "plain": plain,
        "ratio": plain and plain / ours,
        "bound": bound,
        "share": bound and bound / ours,
        "bound_is": of,
    }


def keep(rows: list[dict], table: Path, picture: Callable) -> None:
    """Write what was measured, and its picture beside it."""
    from fedrepro.reporting.figures import save

    table.parent.mkdir(parents=True, exist_ok=True)
    with open(table, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    save(picture(table), table.with_suffix(".svg"), table.with_suffix(".png"))
