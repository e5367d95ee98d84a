"""Publishing: what a run left behind, made small enough to be kept with the code, in docs/.

Paper by paper what is there and current. A paper whose results are not at hand stays as it was published, with the commit
that computed it; where the code has changed since, that is said. What is missing is said too, on the page and in the
manifest. `README.md` gets the summary.
"""

import datetime
import hashlib
import json
import lzma
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fedrepro.experiments.experiment import Paper
from fedrepro.experiments.results import Results, Stale
from fedrepro.papers.arena import standings
from fedrepro.pipeline import costs
from fedrepro.pipeline.current import outdated
from fedrepro.pipeline.documents import ConfigError, read_text
from fedrepro.pipeline.plan import Plan
from fedrepro.reporting import evidence, matrix, page
from fedrepro.reporting.claims import write_strips
from fedrepro.reporting.findings import Finding, decided, findings
from fedrepro.reporting.notebooks import execute, lightened
from fedrepro.reporting.pictures import alone

MOST_MB, PAGE_MB = 20.0, 15.0
LINKS = page.Links(
    figure=("SVG", "figures/{paper}/{figure}.svg"),
    notebook="notebooks/{paper}.ipynb",
    traces=False,
    files={name: name for name in ("claims.csv", "evidence.parquet", "manifest.json")}
    | {"overview.ipynb": "notebooks/overview.ipynb"},
)
BEGIN, END = "<!-- published -->", "<!-- end of published -->"
TABLES = ("hyperparameters.csv", "slips.csv")
SHARES = "papers/{paper}.json.xz"
KEPT = ("api.md",)  # of docs/, made of the code and not of a run
OVERVIEW = Path("notebooks/overview.ipynb")
TELLING = 3  # figures in the README


@dataclass(frozen=True)
class Published:
    """A paper as it is, or was, published: its share of the page, and how it was made. What the page shows as it is, is kept
    there alone."""

    share: page.Share
    made: dict

    @classmethod
    def read(cls, path: Path, shown: Path) -> "Published":
        found = json.loads(lzma.decompress(path.read_bytes()))
        return cls(page.Share.again(found["share"], shown.read_text()), found["made"])

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"share": self.share.apart(), "made": self.made}, ensure_ascii=False)
        path.write_bytes(lzma.compress(text.encode(), preset=9))

    def fits(self, paper: Paper) -> bool:
        """Whether the paper still has the claims and figures that were published."""
        ids = set(re.findall(r'<figure id="([^"]+)"', self.share.html))
        figures = {f"{paper.name}_{name}" for name in paper.raw["figures"]}
        return figures <= ids and [row["id"] for row in self.share.claims] == list(paper.raw["claims"])


def publish(plan: Plan, docs: Path, readme: Path) -> dict:
    """Write docs/ and the README's summary; returns the manifest."""
    plan.expect()
    results = Results(Path(plan.results))
    missing = {name: why for name in plan.papers if (why := lacking(plan, results, name))}
    kept = {name: old for name in missing if (old := former(plan, docs, name))}
    if set(plan.papers) == set(missing) - set(kept):
        reasons = "; ".join(f"{name}: {why}" for name, why in missing.items())
        raise ConfigError(f"nothing of scale {plan.scale} can be published: {reasons}; {results.remedy}")
    missing = {name: why for name, why in missing.items() if name not in kept}
    summarised(read_text(readme), "")  # before anything is written
    with tempfile.TemporaryDirectory(prefix=f".{docs.name}-", dir=docs.absolute().parent) as scratch:
        folder = Path(scratch) / docs.name
        manifest, claims = fill(folder, plan, results, missing, kept, docs)
        weigh(folder)
        for path in (docs / name for name in KEPT):
            if path.exists():
                shutil.copy2(path, folder)
        shutil.rmtree(docs, ignore_errors=True)
        folder.rename(docs)
    readme.write_text(summarised(read_text(readme), summary(manifest, claims)))
    return manifest


def former(plan: Plan, docs: Path, name: str) -> Published | None:
    """A paper as it was published at this scale, if it was and is still what the configuration says."""
    path, manifest = docs / SHARES.format(paper=name), docs / "manifest.json"
    if not path.exists() or not manifest.exists():
        return None
    try:
        told = json.loads(manifest.read_text())
        scale, files = told["scale"], dict(told["files"])
    except (ValueError, LookupError, TypeError):
        raise ConfigError(f"{manifest} is damaged: git checkout {manifest} brings it back") from None
    if scale != plan.scale:
        return None
    for file in (
        SHARES.format(paper=name),
        "index.html",
        "evidence.parquet",
        *published_files(plan.papers[name]),
    ):
        if file in files and (not (docs / file).exists() or digest(docs / file) != files[file]):
            raise ConfigError(f"{docs / file} is damaged: git checkout {docs / file} brings it back")
    found = Published.read(path, docs / "index.html")
    return found if found.fits(plan.papers[name]) else None


def fill(
    folder: Path,
    plan: Plan,
    results: Results,
    missing: dict[str, str],
    kept: dict[str, Published],
    docs: Path,
) -> tuple[dict, list[dict]]:
    """All files; returns the manifest and the claims."""
    papers = [paper for name, paper in plan.papers.items() if name not in missing]
    fresh = [paper for paper in papers if paper.name not in kept]
    tables = [pd.read_parquet(results.folder / f"tables/{p.name}_evidence.parquet") for p in fresh]
    if kept:
        old = pd.read_parquet(docs / "evidence.parquet")
        tables += [old[old["paper"].isin(list(kept))]]
    places = {p.name: i for i, p in enumerate(papers)}
    tables = [pd.concat(tables).sort_values("paper", key=lambda names: names.map(places), kind="stable")]
    folder.mkdir(parents=True, exist_ok=True)
    evidence.write(folder / "evidence.parquet", tables)
    verdicts = decided(papers, evidence.read(folder / "evidence.parquet"), plan.scale)
    bill = costs.bill(Plan({"scale": plan.scale, "papers": [p.name for p in fresh]})) if fresh else None
    shown, slips = [], {}
    for paper in papers:
        if paper.name in kept:
            one = kept[paper.name]
            copy_published(paper, docs, folder)
        else:
            told = results.slips(paper.name)
            one = Published(
                page.share(paper, results, verdicts, told, LINKS, bill), describe(plan, paper, results)
            )
            write_paper(paper, results, folder)
        one.write(folder / SHARES.format(paper=paper.name))
        slips[paper.name] = pd.read_csv(
            folder / f"tables/{paper.name}_slips.csv", keep_default_na=False
        ).to_dict("records")
        shown.append(one)
    claims = [row for one in shown for row in one.share.claims]
    pd.DataFrame(claims).to_csv(folder / "claims.csv", index=False, lineterminator="\n")
    older = {
        one.share.paper: ", ".join(filter(None, (one.made["commit"][:12], one.made["date"])))
        for one in shown
        if one.made["key"] != plan.computed_key(one.share.paper)
    }
    page.render(
        [one.share for one in shown],
        findings(papers, verdicts, slips),
        folder / "index.html",
        LINKS,
        scale=plan.scale,
        bench=results.folder.parent / "benchmarks",
        bill=bill,
        missing=missing,
        older=older,
    )
    overview(papers, verdicts, plan.scale, folder)
    put(folder / "summary.svg", matrix.picture(papers, claims, plan.scale))
    manifest = {
        "scale": plan.scale,
        "date": today(),
        "papers": [p.name for p in papers],
        "missing": missing,
        "older": older,
        "made": {one.share.paper: one.made for one in shown},
        "telling": [
            {"figure": figure, "sentence": f.sentence, "claim": f.claim}
            for figure, f in telling(papers, findings(papers, verdicts, slips, most=40))
        ],
        "files": {
            p.relative_to(folder).as_posix(): digest(p) for p in sorted(folder.rglob("*")) if p.is_file()
        },
    }
    put(folder / "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    return manifest, claims


def write_paper(paper: Paper, results: Results, folder: Path) -> None:
    """Its figures, tables and notebook; of the arena also what another method is scored by."""
    for name, entry in paper.raw["figures"].items():
        drawn = alone((results.folder / f"figures/{paper.name}/{name}.svg").read_text(), entry["title"])
        put(folder / f"figures/{paper.name}/{name}.svg", drawn)
    for kind in TABLES:
        put(
            folder / f"tables/{paper.name}_{kind}",
            (results.folder / f"tables/{paper.name}_{kind}").read_text(),
        )
    notebook = (results.folder / f"notebooks/{paper.name}.ipynb").read_text()
    put(folder / f"notebooks/{paper.name}.ipynb", lightened(notebook))
    if paper.name == "arena":
        standings.write(results, folder / standings.FILE)


def copy_published(paper: Paper, docs: Path, folder: Path) -> None:
    """The same as they were published."""
    for name in published_files(paper):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(docs / name, folder / name)


def published_files(paper: Paper) -> list[str]:
    """What of a paper's lies in docs/, besides its share of the page."""
    files = [f"figures/{paper.name}/{name}.svg" for name in paper.raw["figures"]]
    files += [f"tables/{paper.name}_{kind}" for kind in TABLES] + [f"notebooks/{paper.name}.ipynb"]
    return files + ([standings.FILE] if paper.name == "arena" else [])


def lacking(plan: Plan, results: Results, paper: str) -> str | None:
    """Why a paper cannot be published; None where all of it is there and made of this configuration and code."""
    own = [Path(f) for f in plan.paper_files(paper)]
    absent = [path for path in own if not path.exists()]
    if absent:
        return f"{len(absent)} of {len(own)} files are not made yet"
    experiments = plan.papers[paper].full(plan.papers[paper].raw["experiments"])
    try:
        results.trace_files(*experiments)
        for experiment in experiments:
            results.reference(experiment)
    except Stale:
        return "some of its traces were made by another configuration or other code"
    return outdated(plan, paper) or None


def overview(papers: list[Paper], verdicts: dict, scale: str, folder: Path) -> None:
    """The notebook over all papers, executed on what was published of them, whether or not their results are at hand."""
    claims = pd.read_csv(folder / "claims.csv", keep_default_na=False)
    rows = pd.read_parquet(folder / "evidence.parquet")
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch) / scale
        tables = results / "tables"
        tables.mkdir(parents=True)
        shutil.copy(folder / "claims.csv", results)
        for paper in papers:
            name, own = paper.name, paper.raw["claims"]
            claims[claims.paper == name].to_csv(tables / f"{name}_claims.csv", index=False)
            evidence.write(tables / f"{name}_evidence.parquet", [rows[rows.paper == name]])
            shutil.copy(folder / f"tables/{name}_slips.csv", tables)
            write_strips(
                results / f"figures/claims/{name}", own, {claim: verdicts[name, claim] for claim in own}
            )
        executed = results / "notebooks/overview.ipynb"
        execute(OVERVIEW, executed, executed.with_suffix(".html"), results)
        told = executed.read_text().replace(str(results), f"results/{scale}")
    put(folder / "notebooks/overview.ipynb", lightened(told))


def telling(papers: list[Paper], found: list[Finding]) -> list[tuple[str, Finding]]:
    """The most surprising findings that have a figure, with it: `fedsplit/fig1`."""
    known = {p.name: p.raw["claims"] for p in papers}
    first: dict[str, Finding] = {}
    for one in found:
        if one.claim and (figure := known[one.paper][one.claim].get("figure")):
            first.setdefault(f"{one.paper}/{figure}", one)
    return list(first.items())[:TELLING]


def describe(plan: Plan, paper: Paper, results: Results) -> dict:
    """Where a paper's numbers come from."""
    experiments = paper.full(paper.raw["experiments"])
    taken = costs.by_part(costs.table(plan))
    own = taken[(taken["paper"] == paper.name) & (taken["recorded"] > 0)]
    return {
        "date": today(),
        "commit": git("rev-parse", "HEAD"),
        "changed": bool(
            git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs", ":!README.md")
        ),
        "key": plan.computed_key(paper.name),
        "data": page.all_origins([paper], results),
        "cpu_minutes": {row.part: round(float(row.cpu_minutes), 2) for row in own.itertuples()},
        "made_by": {
            row["what"]: [value for value, _ in row["values"]]
            for row in page.provenance(results, experiments)
        },
    }


def today() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")


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
    taken = {paper: sum(made["cpu_minutes"].values()) for paper, made in manifest["made"].items()}
    lines += [
        "",
        f"CPU minutes: {', '.join(f'{paper} {minutes:.0f}' for paper, minutes in taken.items())}.",
    ]
    if manifest["older"]:
        lines += ["", "Computed by an earlier version of the code: " + ", ".join(manifest["older"]) + "."]
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
