"""One module per paper: a function per claim, named by its id, that measures it in the traces.

What the claim says and where is in the paper's YAML; here is only how we measure it. A claim that fails is a
result. Two rules hold for every claim and are applied here, not by the claims' authors: data that stand in for
the paper's never yield *reproduced*, and neither does a run in which nothing could be measured.
"""

import csv
import importlib
from dataclasses import dataclass, field
from pathlib import Path

from fedrepro.config import Paper
from fedrepro.results import Results

REPRODUCED, PARTLY, FAILED, UNTESTED = "reproduced", "partly", "not reproduced", "not tested"
COLUMNS = (
    "id", "paper", "where", "statement", "paper_value", "our_value", "verdict", "why", "data_origin", "scale", "figure",
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """What we measured: the value with its spread over seeds, the verdict it earns, and why.

    `held` says so for every way of settling what the paper leaves open, where there are several.
    """

    value: str
    verdict: str
    why: str
    held: dict[str, bool | None] = field(default_factory=dict)


def spread(values, form: str = "{:.3g}") -> str:
    """Median and range over seeds, `412 [405, 430]`."""
    values = sorted(values)
    middle = form.format(
        values[len(values) // 2] if len(values) % 2 else sum(values[len(values) // 2 - 1 :][:2]) / 2
    )
    if values[0] == values[-1]:
        return middle
    return f"{middle} [{form.format(values[0])}, {form.format(values[-1])}]"


def bounded_by_origin(finding: Finding, origins: dict[str, str]) -> Finding:
    """Stand-ins test nothing; a relative of the paper's data can at most support a claim in part."""
    standins = sorted(title for title, origin in origins.items() if origin == "standin")
    relatives = sorted(title for title, origin in origins.items() if origin == "relative")
    if standins:
        why = f"measured on stand-in data ({', '.join(standins)}), which cannot test it; there: {finding.verdict}. {finding.why}"
        return Finding(finding.value, UNTESTED, why)
    if relatives and finding.verdict == REPRODUCED:
        return Finding(
            finding.value, PARTLY, f"holds on {', '.join(relatives)}, not the paper's data. {finding.why}"
        )
    return finding


def judge(paper: Paper, results: Results) -> list[dict]:
    """A row of claims.csv for every claim of the paper."""
    module = importlib.import_module(f"{__name__}.{paper.name}")
    rows = []
    for name, claim in paper.raw["claims"].items():
        experiments = [f"{paper.name}_{e}" for e in claim["experiments"]]
        origins = results.origins(*experiments)
        finding = bounded_by_origin(getattr(module, name)(results), origins)
        rows.append(
            {
                "id": name,
                "paper": paper.name,
                "where": claim["where"],
                "statement": claim["statement"],
                "paper_value": claim["paper_value"],
                "our_value": finding.value,
                "verdict": finding.verdict,
                "why": finding.why,
                "data_origin": ", ".join(sorted(set(origins.values()))),
                "scale": results.scale,
                "figure": claim.get("figure", ""),
            }
        )
    return rows


def write(path: Path, rows: list[dict]) -> None:
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)
