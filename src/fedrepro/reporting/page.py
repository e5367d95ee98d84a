"""The report: one self-contained page made from what a run left behind. It reads; it never solves."""

import base64
from collections import Counter
from pathlib import Path

from fedrepro.datasets.files import written
from fedrepro.experiments import trace
from fedrepro.experiments.experiment import Paper, at_scale
from fedrepro.experiments.results import Results
from fedrepro.reporting.tables import hyperparameters
from fedrepro.reporting.verdicts import VERDICTS


def write(papers: list[Paper], results: Results, output: Path) -> None:
    import jinja2

    here = Path(__file__).parent
    loader = jinja2.FileSystemLoader(here)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    claims = results.claims(*(p.name for p in papers)).to_dict("records")
    for claim in claims:
        claim["strip"] = results.strip(claim["paper"], claim["id"])
    page = environment.get_template("page.html").render(
        css=(here / "page.css").read_text(),
        scale=results.scale,
        verdicts=VERDICTS,
        totals=Counter(c["verdict"] for c in claims),
        claims=claims,
        papers=[paper_section(p, results, [c for c in claims if c["paper"] == p.name]) for p in papers],
        provenance=provenance(results, {b.experiment.name for p in papers for b in p.blocks}),
    )
    with written(output) as temporary:
        temporary.write_text(page)


def paper_section(paper: Paper, results: Results, claims: list[dict]) -> dict:
    return {
        "name": paper.name,
        "raw": paper.raw,
        "claims": claims,
        "figures": [
            figure_entry(paper, name, entry, results) for name, entry in paper.raw["figures"].items()
        ],
        "partitions": [partition_entry(paper, name, results) for name in paper.raw.get("partitions", {})],
        "slips": results.slips(paper.name),
        "hyperparameters": hyperparameters(paper),
    }


def embedded(svg: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode()


def partition_entry(paper: Paper, name: str, results: Results) -> dict:
    """How a dataset was cut into clients, with its picture."""
    entry = paper.raw["partitions"][name]
    parameters = entry.get("parameters", {})
    values = {k: v["setting"] if "setting" in v else at_scale(v, paper.scale) for k, v in parameters.items()}
    return {
        "name": name,
        "scheme": entry["scheme"].replace("_", " "),
        "dataset": entry["dataset"],
        "words": ", ".join(f"{k} = {v}" for k, v in values.items() if v is not None),
        "image": embedded(results.folder / "figures/partitions" / f"{paper.name}_{name}.svg"),
    }


def figure_entry(paper: Paper, name: str, entry: dict, results: Results) -> dict:
    experiments = [f"{paper.name}_{e}" for e in entry["experiments"]]
    return {
        "id": f"{paper.name}_{name}",
        "title": entry["title"],
        "caption": entry["caption"],
        "image": embedded(results.folder / "figures" / paper.name / f"{name}.svg"),
        "pdf": f"../figures/{paper.name}/{name}.pdf",
        "settings": [setting_words(paper, e) for e in entry["experiments"]],
        "origins": results.origins(*experiments),
        "traces": [
            f"../{p.relative_to(results.folder).as_posix()}" for p in results.trace_files(*experiments)
        ],
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


def provenance(results: Results, experiments: set[str]) -> list[dict]:
    """What the footers of this run's own traces say, values that all of them share in one row each."""
    skip = {"block", "config_hash", "data_checksums"}
    values: dict[str, Counter] = {}
    for path in results.trace_files(*sorted(experiments)):
        for key, value in trace.footer(path).items():
            if key not in skip:
                values.setdefault(key, Counter())[value] += 1
    return [{"what": key, "values": sorted(found.items())} for key, found in sorted(values.items())]
