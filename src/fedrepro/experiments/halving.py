"""Grids by successive halving, as the runner goes through a block."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fedrepro.experiments.experiment import Stop


def planned(points: int, seeds: int, n: int) -> int:
    """How many cells a setting runs, those of successive halving included."""
    rungs = []
    for _ in range(2 if n > 1 else 0):
        if points > 1:
            rungs.append(points)
            points = -(-points // n)
    return sum(rungs) + points * seeds


def halved(run: Callable, grid, stop: Stop, measure: str) -> tuple[list, list]:
    """Successive halving: the cells that dropped out with their traces, and the grid points left to run in full.

    With `halving: n`, all points run 1/n² of the rounds, the best 1/n of them 1/n, and the best 1/n of those
    remain. Best is the lowest `measure` at the end; ties go to the earlier point.
    """
    n, dropped, left = stop.halving, [], list(grid)
    for share in (n * n, n) if n > 1 else ():
        if len(left) == 1:
            break
        cells = [(p, *run(p, replace(stop, rounds=max(1, stop.rounds // share)))) for p in left]
        cells.sort(key=lambda cell: cell[1].last(measure) if cell[2] != "diverged" else np.inf)
        keep = max(1, -(-len(cells) // n))
        dropped += cells[keep:]
        left = [p for p in left if any(p is cell[0] for cell in cells[:keep])]
    return [(p, trace, status if status == "diverged" else "dropped") for p, trace, status in dropped], left
