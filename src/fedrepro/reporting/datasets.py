"""The table that `snakemake data` prints: what every dataset really is, on this machine, in this run."""

import csv
from pathlib import Path

from fedrepro.datasets.files import written

COLUMNS = ("dataset", "origin", "rows", "columns", "classes", "bytes", "checksum", "licence")


def rows_of(metas: list[dict]) -> list[dict]:
    return [{**{key: meta.get(key) for key in COLUMNS}, "dataset": meta["name"]} for meta in metas]


def write_csv(metas: list[dict], path: Path) -> None:
    """COLUMNS, then what the rows really are, what vouches for them and whom to cite."""
    extra = ("title", "verified", "citation", "notes")
    with written(path) as temporary, temporary.open("w", newline="") as out:
        writer = csv.DictWriter(out, [*COLUMNS, *extra], lineterminator="\n")
        writer.writeheader()
        for row, meta in zip(rows_of(metas), metas, strict=True):
            writer.writerow(row | {key: meta[key] for key in extra})


def write_text(metas: list[dict], path: Path) -> None:
    with written(path) as temporary:
        temporary.write_text(as_text(metas))


def as_text(metas: list[dict]) -> str:
    cells = [list(COLUMNS)]
    for row in rows_of(metas):
        shown = row | {
            "rows": f"{row['rows']:,}",
            "columns": f"{row['columns']:,}",
            "classes": str(row["classes"] or "-"),
            "bytes": f"{row['bytes']:,}",
            "checksum": row["checksum"][:12],
            "licence": row["licence"].split(" (")[0].split(";")[0],
        }
        cells.append([str(shown[key]) for key in COLUMNS])
    widths = [max(len(line[j]) for line in cells) for j in range(len(COLUMNS))]
    numeric = {COLUMNS.index(key) for key in ("rows", "columns", "classes", "bytes")}
    lines = [
        "  ".join(
            cell.rjust(w) if j in numeric else cell.ljust(w)
            for j, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    return "\n".join([*lines, "", closing_line(metas)]) + "\n"


def closing_line(metas: list[dict]) -> str:
    """Which datasets are not the papers' own, and how to get those that are."""
    others = [f"{m['name']} ({m['title']})" for m in metas if m["origin"] in ("relative", "standin")]
    if not others:
        return "Every dataset is the papers' own."
    if any(meta["policy"] == "standin" for meta in metas):
        how = "run again with --config data=auto"
    else:
        how = (
            "run `snakemake --cores 2 data --forcerun decode` where the publishers can be reached, or put "
            "the files under data/raw: data/decoded/<dataset>/search.json says which, and why it failed"
        )
    return f"Not the papers' own data: {', '.join(others)}. To get the real ones, {how}."
