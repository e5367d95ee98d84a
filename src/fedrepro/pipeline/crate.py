"""A finished run as a Workflow Run RO-Crate: the workflow, what went in and came out with checksums, when, and by which software.

Figures, tables and claims are in the crate; data are named with their checksums and traces are left to the run's own folder.
"""

import datetime
import json
import mimetypes
from pathlib import Path

from fedrepro.datasets.files import reading, written
from fedrepro.experiments.results import Results
from fedrepro.pipeline import costs
from fedrepro.pipeline.documents import ConfigError, citation
from fedrepro.pipeline.plan import Plan
from fedrepro.pipeline.publish import digest, lacking
from fedrepro.pipeline.requests import recorded
from fedrepro.reporting.page import provenance

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
WORKFLOW = "workflow/Snakefile"
LOCK = "envs/requirements.lock"
CONFIGURATION = ("config/config.yaml", "config/datasets.yaml")
TABLES = ("hyperparameters.csv", "claims.csv", "slips.csv", "evidence.parquet")
OF_ALL = ("claims.csv", "evidence.parquet", "report/index.html")
KINDS = {".parquet": "application/vnd.apache.parquet", ".yaml": "application/yaml", ".lock": "text/plain"}


def crate(plan: Plan, output: Path) -> dict[str, str]:
    """Write the crate, a zip, of all papers that are there and current; returns the others, with what they lack."""
    try:
        import rocrate  # noqa: F401
    except ImportError:
        raise ConfigError("a crate needs the package rocrate; install it with `make tools`") from None
    plan.expect()
    results = Results(Path(plan.results))
    missing = {name: why for name in plan.papers if (why := lacking(plan, results, name))}
    papers = [name for name in plan.papers if name not in missing]
    if not papers:
        reasons = "; ".join(f"{name}: {why}" for name, why in missing.items())
        raise ConfigError(f"{plan.results} has no finished paper: {reasons}; {results.remedy}")
    experiments = [e for name in papers for e in plan.papers[name].full(plan.papers[name].raw["experiments"])]
    made_by = {
        fact["what"]: [value for value, _ in fact["values"]] for fact in provenance(results, experiments)
    }
    box = Box(plan, citation(), versions(made_by))
    for name in papers:
        box.add_run(f"#run-{name}", plan.papers[name].raw["title"], [name], outputs_of(plan, name))
    if not missing:
        every = [file for name in papers for file in outputs_of(plan, name)]
        box.add_run("#run", "all papers", papers, every + of_all(plan))
    with written(output) as temporary:
        box.crate.write_zip(temporary)
    return missing


def outputs_of(plan: Plan, paper: str) -> list[str]:
    """The figures and tables of a paper, its claims among them."""
    tables = [f"{plan.results}/tables/{paper}_{table}" for table in TABLES]
    return [*plan.all_figures(paper), *plan.datasets.pictures(paper), *tables]


def of_all(plan: Plan) -> list[str]:
    """What the papers' claims were gathered into, as far as it was made after them."""
    last = max(Path(f"{plan.results}/tables/{paper}_claims.csv").stat().st_mtime for paper in plan.papers)
    files = [Path(plan.results, name) for name in OF_ALL]
    return [file.as_posix() for file in files if file.exists() and file.stat().st_mtime >= last]


def versions(made_by: dict[str, list[str]]) -> dict[str, str]:
    """Of the software that ran, as the traces' footers tell; several where jobs ran at several."""
    found: dict[str, set[str]] = {"Python": set(made_by.get("python", ()))}
    for text in made_by.get("packages", ()):
        for name, version in json.loads(text).items():
            found.setdefault(name, set()).add(version)
    found["fedrepro"] = {f"commit {commit}" for commit in made_by.get("commit", ()) if commit}
    return {name: ", ".join(sorted(several)) for name, several in found.items() if several}


class Box:
    """A crate while it is filled."""

    def __init__(self, plan: Plan, citation: dict, software: dict[str, str]):
        from rocrate.rocrate import ROCrate

        self.plan, self.crate = plan, ROCrate(version="1.1")  # the version that the profiles are written for
        self.crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
        root = self.crate.root_dataset
        root["name"] = f"{citation['title']} (scale {plan.scale})"
        root["description"] = f"Figures, tables and claims of a run at scale {plan.scale}, and the workflow."
        licence = f"https://spdx.org/licenses/{citation['license']}"
        root["license"] = self.described(licence, "CreativeWork", name=citation["license"])
        for number, given in enumerate(citation["authors"]):
            root.append_to("author", self.author(number, given), compact=True)
        root["conformsTo"] = [
            self.described(place, "CreativeWork", name=name, version=place.rsplit("/", 1)[1])
            for place, name in PROFILES.items()
        ]
        self.workflow = self.crate.add_workflow(
            WORKFLOW, WORKFLOW, main=True, lang="snakemake", lang_version=software.get("snakemake"),
            properties=facts(Path(WORKFLOW)) | {"name": citation["title"], "version": str(citation["version"])},
        )  # fmt: skip
        self.workflow["author"], self.workflow["license"] = root["author"], root["license"]
        tools = [
            self.described(f"#software-{name}", "SoftwareApplication", name=name, softwareVersion=version)
            for name, version in software.items()
        ]
        lock = self.file(LOCK, name="Locked versions of every package, with hashes")
        self.workflow["softwareRequirements"] = [*tools, lock]
        rules = [*Path("workflow/rules").glob("*.smk"), *Path("workflow/scripts").glob("*.py")]
        self.workflow["hasPart"] = [self.file(path.as_posix()) for path in sorted(rules)]

    def add_run(self, identifier: str, words: str, papers: list[str], outputs: list[str]) -> None:
        """One action: the workflow made these outputs of the papers' configuration and data."""
        configuration = [*CONFIGURATION, *(f"config/papers/{name}.yaml" for name in papers)]
        data = sorted({d for name in papers for d in datasets_of(self.plan, name)})
        begin, end = times(self.plan, papers, outputs)
        action = self.crate.add_action(
            self.workflow,
            identifier=identifier,
            object=[*map(self.file, configuration), *map(self.dataset, data)],
            result=[self.file(path) for path in outputs],
            properties={
                "name": f"Run of {words} at scale {self.plan.scale}",
                "description": "From the start of the first job to the end of the last, of those whose results are here.",
                "startTime": moment(begin),
                "endTime": moment(end),
                "actionStatus": "http://schema.org/CompletedActionStatus",
            },
        )
        self.crate.root_dataset.append_to("mentions", action)

    def file(self, path: str, **more):
        known = self.crate.get(path)
        return known or self.crate.add_file(path, path, properties=facts(Path(path)) | more)

    def described(self, identifier: str, kind: str, **properties):
        known = self.crate.get(identifier)
        return known or self.crate.add_jsonld({"@id": identifier, "@type": kind} | properties)

    def author(self, number: int, given: dict):
        """A person or an organisation, as CITATION.cff has it."""
        if "name" in given:
            return self.described(f"#author-{number}", "Organization", name=given["name"])
        name = f"{given.get('given-names', '')} {given.get('family-names', '')}".strip()
        return self.described(given.get("orcid", f"#author-{number}"), "Person", name=name)

    def dataset(self, name: str):
        """A dataset by the checksum of its decoded content, and the files it was decoded from by theirs."""
        meta = Path(f"data/decoded/{name}/meta.json")
        with reading(meta):
            known = json.loads(meta.read_text())
        told = {
            "name": known["title"],
            "sha256": known["checksum"],
            "description": f"{known['rows']} rows, {known['columns']} columns; origin: {known['origin']}",
        }
        told |= {
            to: known[of] for to, of in (("license", "licence"), ("citation", "citation")) if known.get(of)
        }
        parts = [
            self.described(f"#file-{file['file']}", "CreativeWork", name=file["file"], sha256=file["sha256"])
            for file in known.get("files", ())
        ]
        entity = self.described(f"#data-{name}", "CreativeWork", **told)
        if parts:
            entity["hasPart"] = parts
        return entity


def datasets_of(plan: Plan, paper: str) -> set[str]:
    """The datasets of the catalogue behind a paper's experiments."""
    found = set()
    for experiment in (e for e in plan.experiments.values() if e.paper == paper):
        found |= {experiment.dataset, *plan.datasets.named_by(experiment)}
    return found & set(plan.datasets.datasets)


def times(plan: Plan, papers: list[str], outputs: list[str]) -> tuple[float, float]:
    """When the first of the papers' jobs began and the last ended: what a job took is written, as it ends, beside its log.
    Where nothing was (conda's jobs), when the first and the last output were written."""
    spans = []
    for job in costs.jobs(plan).values():
        if job.paper in papers and (cost := recorded(job.cost)):
            end = job.cost.stat().st_mtime
            spans.append((end - cost[0], end))
    if not spans:
        spans = [(Path(path).stat().st_mtime,) * 2 for path in outputs]
    return min(begin for begin, _ in spans), max(end for _, end in spans)


def facts(path: Path) -> dict[str, str]:
    """Name, size, kind and checksum of a file."""
    kind = KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "text/plain"
    return {
        "name": path.name,
        "contentSize": str(path.stat().st_size),
        "encodingFormat": kind,
        "sha256": digest(path),
    }


def moment(time: float) -> str:
    return datetime.datetime.fromtimestamp(time, datetime.UTC).isoformat(timespec="seconds")
