"""The report: one self-contained page made from what a run left behind. It reads; it never solves.

The same page is written beside a run's results and, by `fedrepro publish`, into docs/; what it links to differs.
"""

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

from fedrepro.datasets.files import written
from fedrepro.experiments import trace
from fedrepro.experiments.experiment import Paper, at_scale
from fedrepro.experiments.results import Results
from fedrepro.reporting import benchmarks, explorer, matrix, notebooks
from fedrepro.reporting.costs import Bill
from fedrepro.reporting.findings import choices, findings, judged
from fedrepro.reporting.pictures import Definitions, drawn
from fedrepro.reporting.pieces import piece
from fedrepro.reporting.tables import hyperparameters
from fedrepro.reporting.verdicts import Verdict, sentence

SENTENCE = re.compile(r"(?:\$[^$]*\$|`[^`]*`|[^.?!]|[.?!](?!\s|$))*[.?!](?=\s|$)")
SHOWN = re.compile(r"""\bshow\(\s*["'](\w+)["']""")  # a notebook's cell that shows a figure


@dataclass(frozen=True)
class Links:
    """Where a page leads, relative to itself: patterns of paper, figure and experiment; None where there is nothing."""

    figure: tuple[str, str] = ("SVG", "../figures/{paper}/{figure}.svg")
    notebook: str = "../notebooks/{paper}.html"
    traces: bool = True
    files: dict[str, str] = field(
        default_factory=lambda: {"claims.csv": "../claims.csv", "evidence.parquet": "../evidence.parquet"}
    )


@dataclass(frozen=True)
class Share:
    """What one paper brings to a page: enough to go on showing it where its results are no longer at hand."""

    paper: str
    short: str  # what it is called in passing
    html: str  # its section
    definitions: str  # of the section's pictures
    claims: list[dict]  # as in claims.csv
    explorer: dict | None  # of explorer.data
    numbers: dict[str, tuple[str, str]]
    origins: dict[str, str]
    provenance: list[dict]
    costs: list[dict]  # of Bill.by_paper

    def apart(self) -> dict:
        """All but what a page shows as it is, and can be taken from it again."""
        return {k: v for k, v in asdict(self).items() if k not in SHOWN_WHOLE}

    @classmethod
    def again(cls, apart: dict, text: str) -> "Share":
        """From a page that shows it, and the rest."""
        section = between(text, f"<!-- {apart['paper']} -->", f"<!-- end of {apart['paper']} -->")
        definitions = between(section, "<defs>", "</defs></svg>\n")
        html = section.split("</defs></svg>\n", 1)[1].removesuffix("\n")
        names = [e["id"] for e in (apart["explorer"] or {"experiments": []})["experiments"]]
        numbers = {
            name: tuple(between(text, f'id="{kind}-{name}">', "</script>") for kind in ("numbers", "clock"))
            for name in names
        }
        return cls(**apart, html=html, definitions=definitions, numbers=numbers)


SHOWN_WHOLE = ("html", "definitions", "numbers")


def between(text: str, begin: str, end: str) -> str:
    return text.split(begin, 1)[1].split(end, 1)[0]


def write(
    papers: list[Paper], results: Results, output: Path, links: Links | None = None, bill: Bill | None = None
) -> None:
    """The page of a run."""
    links = links or (
        Links(("PDF", "../figures/{paper}/{figure}.pdf")) if results.scale == "paper" else Links()
    )
    verdicts = judged(papers, results)
    slips = {p.name: results.slips(p.name) for p in papers}
    shares = [share(p, results, verdicts, slips[p.name], links, bill) for p in papers]
    render(
        shares,
        findings(papers, verdicts, slips),
        output,
        links,
        scale=results.scale,
        bench=results.folder.parent / "benchmarks",
        bill=bill,
    )


def share(
    paper: Paper,
    results: Results,
    verdicts: dict[tuple[str, str], Verdict],
    slips: list[dict],
    links: Links,
    bill: Bill | None = None,
) -> Share:
    definitions = Definitions(prefix=paper.name)
    rows = results.claims(paper.name).to_dict("records")
    claims = [claim_entry(row, verdicts, results) for row in rows]
    entry, numbers = explorer.data(paper, results)
    experiments = paper.full(paper.raw["experiments"])
    section = paper_section(paper, results, claims, verdicts, slips, links, definitions)
    return Share(
        paper.name,
        matrix.short(paper),
        templates().get_template("paper.html").render(paper=section, links=links, explored=entry is not None),
        definitions.svg(),
        rows,
        entry,
        numbers,
        all_origins([paper], results),
        provenance(results, experiments),
        [row for row in bill.by_paper() if row["paper"] == paper.name] if bill else [],
    )


def render(
    shares: list[Share],
    found: list,
    output: Path,
    links: Links,
    *,
    scale: str,
    bench: Path,
    bill: Bill | None = None,
    missing: dict[str, str] | None = None,
    older: dict[str, str] | None = None,
) -> None:
    """`found`: the findings; `missing`: papers that are not on it -> why; `older`: papers that another version of the code
    computed -> which."""
    here, definitions = Path(__file__).parent, Definitions()
    claims = [row for one in shares for row in one.claims]
    entries = [one.explorer for one in shares if one.explorer]
    page = (
        templates()
        .get_template("page.html")
        .render(
            css=(here / "base.css").read_text() + (here / "page.css").read_text(),
            scripts=[(here / name).read_text() for name in ("page.js", "explorer.js")],
            scale=scale,
            totals=matrix.totals(claims),
            claims=claims,
            shares=shares,
            findings=found,
            origins=dict(sorted((k, v) for one in shares for k, v in one.origins.items())),
            missing=missing or {},
            older=older or {},
            links=links,
            explorer=json.dumps(entries, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"),
            measured=benchmarks.shown(bench, definitions),
            definitions=definitions.svg(),
            costs=costs_entry([row for one in shares for row in one.costs], bill),
            provenance=added_up([one.provenance for one in shares]),
        )
    )
    with written(output) as temporary:
        temporary.write_text(page)


@cache
def templates():
    import jinja2

    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.globals |= {"shade": matrix.shade, "mark": matrix.mark}
    return environment


def added_up(tables: list[list[dict]]) -> list[dict]:
    """The provenance of several papers in one."""
    values: dict[str, Counter] = {}
    for row in (row for table in tables for row in table):
        values.setdefault(row["what"], Counter()).update(dict(map(tuple, row["values"])))
    return [{"what": what, "values": sorted(found.items())} for what, found in sorted(values.items())]


def costs_entry(rows: list[dict], bill: Bill | None) -> dict | None:
    """A table of all papers, with a picture of those that ran here. Apart from the other definitions: no two runs take the
    same time."""
    if not rows:
        return None
    definitions = Definitions(prefix="costs")
    image = bill and drawn(bill.svg(), definitions, "CPU minutes by paper, and minutes on more cores")
    return {"papers": rows, "image": image, "definitions": definitions.svg()}


def claim_entry(row: dict, verdicts: dict[tuple[str, str], Verdict], results: Results) -> dict:
    verdict = verdicts[row["paper"], row["id"]]
    deciding = [p for p in verdict.parts if p.verdict == verdict.verdict] or verdict.parts
    plain = (
        verdict.why
        if len(verdict.parts) == 1 or not any(p.rows for p in verdict.parts)
        else sentence(deciding[0])
    )
    return row | {
        "strip": results.strip(row["paper"], row["id"]),
        "sentence": plain,
        "more": verdict.why if verdict.why != plain else "",
    }


def paper_section(
    paper: Paper,
    results: Results,
    claims: list[dict],
    verdicts: dict[tuple[str, str], Verdict],
    slips: list[dict],
    links: Links,
    definitions: Definitions,
) -> dict:
    figures = {
        name: figure_entry(paper, name, entry, results, links, definitions)
        for name, entry in paper.raw["figures"].items()
    }
    story, told = told_story(paper, results, figures)
    return {
        "name": paper.name,
        "short": matrix.short(paper),
        "raw": paper.raw,
        "claims": claims,
        "story": story,
        "more": [figure for name, figure in figures.items() if name not in told],
        "partitions": [
            partition_entry(paper, name, results, definitions) for name in paper.raw.get("partitions", {})
        ],
        "slips": slips,
        "choices": choices(claims, verdicts),
        "hyperparameters": hyperparameters(paper),
        "notebook": links.notebook.format(paper=paper.name),
    }


def told_story(paper: Paper, results: Results, figures: dict[str, dict]) -> tuple[list[dict], set[str]]:
    """The notebook in short, with the figures it shows, each at its first place: how it begins, and the first sentence
    of every section."""
    cells = json.loads((results.folder / f"notebooks/{paper.name}.ipynb").read_text())["cells"]
    story, told = [], set()
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            if words := in_short(source):
                story.append({"prose": notebooks.prose(words)})
        else:
            for name in SHOWN.findall(source):
                if name in figures and name not in told:
                    told.add(name)
                    story.append({"figure": figures[name]})
    return closed(story), told


def in_short(markdown: str) -> str:
    """What a cell of prose gives to the story: nothing where it only goes on."""
    heading, _, body = markdown.partition("\n")
    body = re.sub(r"\bThis notebook [^.]*\.\s*", "", body).strip()
    if heading.startswith("# "):
        return body
    if not heading.startswith("## "):
        return ""
    first = SENTENCE.match(body)
    return f"##{heading}\n\n{first[0].strip() if first else ''}"


def closed(story: list[dict]) -> list[dict]:
    """Without sections that show nothing here, such as a table that only the notebook has."""
    return [
        part
        for i, part in enumerate(story)
        if i == 0 or "figure" in part or (i + 1 < len(story) and "figure" in story[i + 1])
    ]


def partition_entry(paper: Paper, name: str, results: Results, definitions: Definitions) -> dict:
    """How a dataset was cut into clients, with its picture."""
    entry = paper.raw["partitions"][name]
    parameters = entry.get("parameters", {})
    values = {k: v["setting"] if "setting" in v else at_scale(v, paper.scale) for k, v in parameters.items()}
    picture = (results.folder / "figures/partitions" / f"{paper.name}_{name}.svg").read_text()
    return {
        "name": name,
        "scheme": entry["scheme"].replace("_", " "),
        "dataset": entry["dataset"],
        "words": ", ".join(f"{k} = {v}" for k, v in values.items() if v is not None),
        "image": drawn(picture, definitions, f"clients of the partition {name}"),
    }


def figure_entry(
    paper: Paper, name: str, entry: dict, results: Results, links: Links, definitions: Definitions
) -> dict:
    experiments = paper.full(entry["experiments"])
    words, pattern = links.figure
    scale = "" if results.scale == "paper" else f" --config scale={results.scale}"
    return {
        "id": f"{paper.name}_{name}",
        "title": entry["title"],
        "caption": entry["caption"],
        "image": drawn(
            (results.folder / f"figures/{paper.name}/{name}.svg").read_text(), definitions, entry["title"]
        ),
        "alive": piece.get(paper.name, name)(results.declared(experiments))
        if name in piece.names(paper.name)
        else "",
        "file": (words, pattern.format(paper=paper.name, figure=name)),
        "command": f"snakemake --cores 2 {paper.name}_{name}{scale}",
        "settings": [setting_words(paper, e) for e in entry["experiments"]],
        "origins": origins(results, experiments),
        "experiments": experiments,
        "traces": [
            f"../{p.relative_to(results.folder).as_posix()}" for p in results.trace_files(*experiments)
        ]
        if links.traces
        else [],
    }


def setting_words(paper: Paper, experiment: str) -> str:
    """`About: m = 25, d = 100, … ; 5 seeds`."""
    raw = paper.raw["experiments"][experiment]
    run = paper.experiment_blocks(f"{paper.name}_{experiment}")[0].experiment
    fixed = [f"{k} = {v}" for k, v in run.settings[0].items() if k not in run.varied]
    varied = [
        f"{k} ∈ {{{', '.join(f'{s[k]:g}' if isinstance(s[k], float) else str(s[k]) for s in unique(run, k))}}}"
        for k in run.varied
    ]
    return f"{raw['about']}: {', '.join([*fixed, *varied]) or 'as published'}; {run.seeds} seed{'s' * (run.seeds > 1)}."


def unique(experiment, key: str) -> list[dict]:
    seen: dict = {}
    for setting in experiment.settings:
        seen.setdefault(str(setting[key]), setting)
    return list(seen.values())


def origins(results: Results, experiments: list[str]) -> dict[str, str]:
    """Dataset -> where it came from, of everything these experiments read."""
    return {k: v for path in results.trace_files(*experiments) for k, v in told_by(path).items()}


@cache
def told_by(path: Path) -> dict[str, str]:
    """The same of one trace, by two of its columns."""
    table = pq.read_table(path, columns=["dataset", "data_origin"])
    pairs = table.group_by(["dataset", "data_origin"]).aggregate([]).to_pydict()
    return dict(zip(pairs["dataset"], pairs["data_origin"], strict=True))


def all_origins(papers: list[Paper], results: Results) -> dict[str, str]:
    return dict(sorted(origins(results, [e for p in papers for e in p.full(p.raw["experiments"])]).items()))


def provenance(results: Results, experiments: list[str]) -> list[dict]:
    """What the footers of this run's own traces say, values that all of them share in one row each."""
    skip = {"block", "config_hash", "data_checksums", "key"}
    values: dict[str, Counter] = {}
    for path in results.trace_files(*experiments):
        for key, value in trace.footer(path).items():
            if key not in skip and not key.startswith("point"):
                values.setdefault(key, Counter())[value] += 1
    return [{"what": key, "values": sorted(found.items())} for key, found in sorted(values.items())]
