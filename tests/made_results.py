"""A run's folder made by hand: traces and references with the keys that the workflow would have written."""

from pathlib import Path

from fedrepro.experiments import reference, trace
from fedrepro.experiments.results import KEYS

KEY = "made by hand"


def expect(folder: Path, kind: str, name: str, key: str = KEY) -> None:
    """What the workflow says a trace or reference must have been made of."""
    path = folder / KEYS / kind / f"{name}.key"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(key)


def write_trace(folder: Path, experiment: str, block: str, tables: list, **facts: str) -> None:
    trace.write(folder / f"traces/{experiment}/{block}.parquet", tables, {"key": KEY} | facts)
    expect(folder, "traces", f"{experiment}/{block}")


def write_reference(folder: Path, experiment: str, table: dict) -> None:
    reference.save(folder / f"reference/{experiment}.npz", table, KEY)
    expect(folder, "reference", experiment)
