"""What a cluster is asked for: the memory and the time of a rule's jobs, from what such jobs took before.

Every job leaves its cost beside its log (workflow/scripts/fork.py). A rule asks for what the largest of its jobs took, so that
jobs that were never run, a reader's own method for one, have enough as well.
"""

import math
from collections.abc import Callable
from pathlib import Path

# Other nodes are slower, and Snakemake's own processes at the node are counted too.
MEMORY, TIME = 1.5, 3.0
OWN_MB, OWN_MINUTES = 500, 5


def request(costs: str, **declared: int | Callable) -> dict[str, Callable]:
    """The `resources:` of a rule whose jobs leave the files `costs`, a pattern. As long as there are none it asks for what
    is `declared`, a number or a function of the wildcards, and otherwise for the profile's `default-resources`. Every further
    attempt of a job asks for more."""
    found = [cost for path in Path().glob(costs) if (cost := recorded(path))]
    if found:
        seconds, _, megabytes = map(max, zip(*found, strict=True))
        declared = {
            "mem_mb": 100 * math.ceil((MEMORY * megabytes + OWN_MB) / 100),
            "runtime": math.ceil(TIME * seconds / 60) + OWN_MINUTES,
        }
    return {name: growing(amount) for name, amount in declared.items()}


def recorded(path: Path) -> tuple[float, ...] | None:
    """Wall seconds, CPU seconds and the peak of memory in MB; None where nothing is noted, or just being written."""
    try:
        wall, cpu, memory = map(float, path.read_text().split())
    except (OSError, ValueError):
        return None
    return wall, cpu, memory


def growing(amount: int | Callable) -> Callable:
    return lambda wildcards, attempt: attempt * (amount(wildcards) if callable(amount) else amount)
