"""Publishing: what a run left behind, made small enough to be kept with the code, in docs/.

Paper by paper what is there and current; what is not is said, on the page and in the manifest. `README.md` gets the summary.
"""

import datetime
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pandas as pd

from fedrepro.experiments.experiment import Paper
from fedrepro.experiments.results import Results, Stale
from fedrepro.papers.arena import standings
from fedrepro.pipeline import costs
from fedrepro.pipeline.documents import ConfigError
from fedrepro.pipeline.plan import Plan
from fedrepro.reporting import evidence, matrix, page
from fedrepro.reporting.findings import Finding, findings, judged
from fedrepro.reporting.notebooks import lightened
from fedrepro.reporting.pictures import alone

MOST_MB, PAGE_MB = 20.0, 15.0
LINKS = page.Links(
    figure=("SVG", "figures/{paper}/{figure}.svg"),
    notebook="notebooks/{paper}.ipynb",
    traces=False,
    files={name: name for name in ("claims.csv", "evidence.parquet", "manifest.json")},
)
BEGIN, END = "<!-- published -->", "<!-- end of published -->"
TABLES = ("hyperparameters.csv", "slips.csv")
KEPT = ("api.md",)  # of docs/, made of the code and not of a run
TELLING = 3  # figures in the README


def publish(plan: Plan, docs: Path, readme: Path) -> dict:
    """Write docs/ and the README's summary; returns the manifest."""
    plan.expect()
    results = Results(Path(plan.results))
    missing = {name: why for name in plan.papers if (why := lacking(plan, results, name))}
    papers = [paper for name, paper in plan.papers.items() if name not in missing]
    if not papers:
        reasons = "; ".join(f"{name}: {why}" for name, why in missing.items())
        raise ConfigError(f"nothing of scale {plan.scale} can be published: {reasons}; {results.remedy}")
    summarised(readme.read_text(), "")  # before anything is written
    with tempfile.TemporaryDirectory(prefix=f".{docs.name}-", dir=docs.absolute().parent) as scratch:
        folder = Path(scratch) / docs.name
        claims = fill(folder, papers, results, missing, plan)
        manifest = json.loads((folder / "manifest.json").read_text())
        weigh(folder)
        for path in (docs / name for name in KEPT):
            if path.exists():
                shutil.copy2(path, folder)
        shutil.rmtree(docs, ignore_errors=True)
        folder.rename(docs)
    readme.write_text(summarised(readme.read_text(), summary(manifest, claims)))
    return manifest


def fill(
    folder: Path, papers: list[Paper], results: Results, missing: dict[str, str], plan: Plan
) -> list[dict]:
    """All files; returns the claims."""
    there = Plan({"scale": plan.scale, "papers": [p.name for p in papers]})
    page.write(papers, results, folder / "index.html", LINKS, missing, costs.bill(there))
    claims = write_tables(papers, results, folder)
    for paper in papers:
        for name, entry in paper.raw["figures"].items():
            drawn = alone((results.folder / f"figures/{paper.name}/{name}.svg").read_text(), entry["title"])
            put(folder / f"figures/{paper.name}/{name}.svg", drawn)
    if any(paper.name == "arena" for paper in papers):
        standings.write(results, folder / standings.FILE)
    absent = write_notebooks(plan, papers, results, folder)
    put(folder / "summary.svg", matrix.picture(papers, claims, plan.scale))
    chosen = telling(papers, results)
    manifest = describe(plan, papers, results, missing | absent) | {
        "telling": [{"figure": figure, "sentence": f.sentence, "claim": f.claim} for figure, f in chosen],
        "files": {
            p.relative_to(folder).as_posix(): digest(p) for p in sorted(folder.rglob("*")) if p.is_file()
        },
    }
    put(folder / "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    return claims


def lacking(plan: Plan, results: Results, paper: str) -> str | None:
    """Why a paper cannot be published; None where all of it is there and made of this configuration and code."""
    own = [Path(f) for f in plan.paper_files(paper)]
    own += [results.folder / f"tables/{paper}_{kind}" for kind in ("slips.csv", "evidence.parquet")]
    own += [results.folder / f"notebooks/{paper}.ipynb", results.folder / f"figures/claims/{paper}"]
    absent = [path for path in own if not path.exists()]
    if absent:
        return f"{len(absent)} of {len(own)} files are not made yet"
    try:
        results.trace_files(*plan.papers[paper].full(plan.papers[paper].raw["experiments"]))
    except Stale:
        return "some of its traces were made by another configuration or other code"
    key = plan.keys.path
    made = {
        key(f"figures/{paper}/{name}"): results.folder / f"figures/{paper}/{name}.svg"
        for name in plan.papers[paper].raw["figures"]
    }
    made |= {
        key(f"claims/{paper}"): results.folder / f"tables/{paper}_claims.csv",
        key(f"notebooks/{paper}"): results.folder / f"notebooks/{paper}.ipynb",
    }
    old = [output for wanted, output in made.items() if output.stat().st_mtime < wanted.stat().st_mtime]
    return f"{old[0].name} and {len(old) - 1} more are older than the code" if old else None


def write_tables(papers: list[Paper], results: Results, folder: Path) -> list[dict]:
    """claims.csv and evidence.parquet of these papers, and their tables; returns the claims."""
    claims = results.claims(*(p.name for p in papers))
    folder.mkdir(parents=True, exist_ok=True)
    claims.to_csv(folder / "claims.csv", index=False, lineterminator="\n")
    tables = [pd.read_parquet(results.folder / f"tables/{p.name}_evidence.parquet") for p in papers]
    evidence.write(folder / "evidence.parquet", tables)
    for paper in papers:
        for kind in TABLES:
            put(
                folder / f"tables/{paper.name}_{kind}",
                (results.folder / f"tables/{paper.name}_{kind}").read_text(),
            )
    return claims.to_dict("records")


def write_notebooks(plan: Plan, papers: list[Paper], results: Results, folder: Path) -> dict[str, str]:
    """The executed notebooks with lighter pictures; what is not there, with the reason."""
    absent = {}
    for name in [*(p.name for p in papers), "overview"]:
        source = results.folder / f"notebooks/{name}.ipynb"
        if name == "overview" and (
            not source.exists()
            or source.stat().st_mtime < plan.keys.path("notebooks/overview").stat().st_mtime
        ):
            absent["overview notebook"] = "needs the claims of all papers"
        else:
            put(folder / f"notebooks/{name}.ipynb", lightened(source.read_text()))
    return absent


def telling(papers: list[Paper], results: Results) -> list[tuple[str, Finding]]:
    """The most surprising findings that have a figure, with it: `fedsplit/fig1`."""
    slips = {p.name: results.slips(p.name) for p in papers}
    known = {p.name: p.raw["claims"] for p in papers}
    found: dict[str, Finding] = {}
    for one in findings(papers, judged(papers, results), slips, most=40):
        if one.claim and (figure := known[one.paper][one.claim].get("figure")):
            found.setdefault(f"{one.paper}/{figure}", one)
    return list(found.items())[:TELLING]


def describe(plan: Plan, papers: list[Paper], results: Results, missing: dict[str, str]) -> dict:
    """Where it comes from."""
    experiments = [e for p in papers for e in p.full(p.raw["experiments"])]
    facts = page.provenance(results, experiments)
    taken = costs.by_part(costs.table(plan))
    return {
        "scale": plan.scale,
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "commit": git("rev-parse", "HEAD"),
        "changed": bool(
            git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs", ":!README.md")
        ),
        "papers": [p.name for p in papers],
        "missing": missing,
        "data": page.all_origins(papers, results),
        "cpu_minutes": {
            p.name: {
                row.part: round(float(row.cpu_minutes), 2)
                for row in taken[(taken["paper"] == p.name) & (taken["recorded"] > 0)].itertuples()
            }
            for p in papers
        },
        "made_by": {row["what"]: [value for value, _ in row["values"]] for row in facts},
    }


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def weigh(folder: Path) -> None:
    """Refuse what is too large to be kept with the code."""
    sizes = {p: p.stat().st_size / 1e6 for p in folder.rglob("*") if p.is_file()}
    total, first = sum(sizes.values()), sizes[folder / "index.html"]
    if total > MOST_MB or first > PAGE_MB:
        largest = ", ".join(
            f"{p.relative_to(folder)} {mb:.1f}" for p, mb in sorted(sizes.items(), key=lambda s: -s[1])[:5]
        )
        raise ConfigError(
            f"{total:.1f} MB in all, {first:.1f} for the page: more than {MOST_MB:g} and {PAGE_MB:g}; the largest are {largest}"
        )


def summary(manifest: dict, claims: list[dict]) -> str:
    """The README's words about what was published, from the manifest and claims.csv alone."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in matrix.totals(claims))
    lines = [
        "[![Every claim by paper, coloured by verdict](docs/summary.svg)](docs/index.html)",
        "",
        f"{len(claims)} claims of {', '.join(manifest['papers'])} at scale {manifest['scale']}: {counts}. "
        "[The page](docs/index.html) has every figure, claim and number behind it; forges show the "
        "[notebooks](docs/notebooks).",
    ]
    taken = {paper: sum(parts.values()) for paper, parts in manifest["cpu_minutes"].items()}
    lines += [
        "",
        f"CPU minutes: {', '.join(f'{paper} {minutes:.0f}' for paper, minutes in taken.items())}.",
    ]
    if manifest["missing"]:
        lines += [
            "",
            "Not published yet: " + ", ".join(manifest["missing"]) + ".",
        ]
    for one in manifest["telling"]:
        lines += [
            "",
            f"![{one['claim']}](docs/figures/{one['figure']}.svg)",
            "",
            f"**{one['claim']}** {one['sentence']}",
        ]
    return "\n".join(lines)


def summarised(readme: str, words: str) -> str:
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(readme):
        raise ConfigError(f"README.md has no place for the summary, between '{BEGIN}' and '{END}'")
    return pattern.sub(lambda _: f"{BEGIN}\n{words}\n{END}", readme)
