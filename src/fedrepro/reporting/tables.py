"""Tables of the configuration: every hyper-parameter with its source."""

import csv
from pathlib import Path

from fedrepro.datasets.files import written
from fedrepro.experiments.experiment import Paper, at_scale

COLUMNS = ("experiment", "algorithm", "parameter", "value", "source", "why")


def hyperparameters(paper: Paper) -> list[dict]:
    """One row per parameter of every experiment and block, with the value it has at this scale."""
    rows = []

    def add(experiment: str, algorithm: str, entries: dict):
        for name, entry in entries.items():
            if isinstance(entry, dict):
                value = (
                    f"the setting's {entry['setting']}"
                    if "setting" in entry
                    else at_scale(entry, paper.scale)
                )
                shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                cells = (experiment, algorithm, name, shown, entry["source"], entry.get("why", ""))
                rows.append(dict(zip(COLUMNS, cells, strict=True)))

    for name, part in paper.raw.get("partitions", {}).items():
        add(name, "(partition)", part.get("parameters", {}))
    for name, experiment in paper.raw["experiments"].items():
        add(name, "", experiment.get("parameters", {}))
        add(name, "", experiment["stop"])
        for block, entry in experiment["algorithms"].items():
            add(name, block, (entry or {}).get("parameters", {}))
    return rows


def write_hyperparameters(paper: Paper, path: str | Path) -> None:
    with written(path) as temporary, open(temporary, "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(hyperparameters(paper))
