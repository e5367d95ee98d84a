"""Judging a paper: evidence from the claims it registered (`@claim("S1")`), verdicts by the one rule, strips, tables.

What a claim says and what is judged of it is in the paper's YAML; its function only measures, in the experiments its
entry lists and no others. A claim that fails is a result.
"""

import csv
from pathlib import Path

from fedrepro.datasets.files import written
from fedrepro.experiments import registry
from fedrepro.experiments.results import Results
from fedrepro.reporting import evidence
from fedrepro.reporting.strips import strip
from fedrepro.reporting.verdicts import Verdict, decide

COLUMNS = (
    "id", "paper", "where", "statement", "paper_value", "verdict", "turns_on", "why", "share", "readings", "seeds",
    "data_origin", "scale", "figure",
)  # fmt: skip
SLIPS = ("where", "printed", "meant", "evidence")


def measure(paper: str, claims: dict, results: Results) -> dict[str, list[evidence.Row]]:
    """Claim -> its evidence."""
    found = {}
    for name, entry in claims.items():
        read = results.declared([f"{paper}_{e}" for e in entry["experiments"]])
        found[name] = list(registry.claim.get(paper, name)(read))
    return found


def judge(claims: dict, found: dict[str, list[evidence.Row]], scale: str) -> dict[str, Verdict]:
    return {name: decide(entry, found[name], scale) for name, entry in claims.items()}


def table(paper: str, claims: dict, judged: dict[str, Verdict], scale: str) -> list[dict]:
    """A row of claims.csv for every claim of the paper."""
    rows = []
    for name, entry in claims.items():
        verdict = judged[name]
        measured = [row for part in verdict.parts for row in part.rows]
        rows.append(
            {k: entry[k] for k in ("where", "statement", "paper_value")}
            | {
                "id": name,
                "paper": paper,
                "verdict": verdict.verdict,
                "turns_on": ", ".join(verdict.turns_on),
                "why": verdict.why,
                "share": f"{verdict.share:.3f}",
                "readings": len({tuple(sorted(row.reading.items())) for row in measured}),
                "seeds": len({row.seed for row in measured}),
                "data_origin": ", ".join(sorted({row.origin for row in measured})),
                "scale": scale,
                "figure": entry.get("figure", ""),
            }
        )
    return rows


def write_strips(folder: Path, claims: dict, judged: dict[str, Verdict]) -> None:
    for name, verdict in judged.items():
        with written(folder / f"{name}.svg") as temporary:
            temporary.write_text(strip(verdict, claims[name]))


def examine(paper: str, slips: list[dict], results: Results) -> list[dict]:
    """Every slip in the paper's text with what was measured of it."""
    rows = []
    for slip in slips:
        words = ""
        if "evidence" in slip:
            read = results.declared([f"{paper}_{e}" for e in slip.get("experiments", [])])
            words = registry.evidence.get(paper, slip["evidence"])(read)
        rows.append({k: slip[k] for k in SLIPS[:-1]} | {"evidence": words})
    return rows


def write(path: Path, columns: tuple[str, ...], rows: list[dict]) -> None:
    with written(path) as temporary, open(temporary, "w", newline="") as file:
        lines = csv.DictWriter(file, columns)
        lines.writeheader()
        lines.writerows(rows)
