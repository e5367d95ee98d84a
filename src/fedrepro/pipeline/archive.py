"""Results that travel: one archive of what a run computed, installed elsewhere so that Snakemake takes it as current.

Traces, references, evidence and claims with what their jobs cost, a manifest of hashes and where it all comes from; no data,
and no figures, which are drawn again in minutes. What is packed and what is installed must have been made by this very
configuration and code: traces and references carry a key that says so.
"""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from fedrepro.datasets.files import written
from fedrepro.experiments.experiment import SCALES
from fedrepro.experiments.results import Results
from fedrepro.pipeline import costs
from fedrepro.pipeline.current import current_traces, is_solved, outdated
from fedrepro.pipeline.documents import ConfigError
from fedrepro.pipeline.plan import JUDGED, Plan
from fedrepro.pipeline.publish import describe
from fedrepro.pipeline.start import hold

FORMAT, MANIFEST = "fedrepro results 1", "manifest.json"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date a zip can hold: packing the same twice gives the same bytes


@dataclass
class Outcome:
    """What became of an archive's files."""

    scale: str
    installed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # were here already, current
    left_out: list[str] = field(
        default_factory=list
    )  # made by other code, another configuration or from other data
    lacking: list[str] = field(default_factory=list)  # datasets that are not decoded here


def pack(plan: Plan, output: Path) -> dict:
    """Write the archive of what is current; returns its manifest."""
    plan.expect()
    solved = {e.name: current_traces(plan, e) for e in plan.experiments.values()}
    names = [path for paths in solved.values() for path in paths]
    names += [plan.reference(e) for e, paths in solved.items() if paths and is_solved(plan, e)]
    judged = [paper for paper in plan.papers if is_judged(plan, paper, set(names))]
    names += [str(path) for paper in judged for path in claims_of(plan, paper)]
    if not names:
        raise ConfigError(
            f"{plan.results} has nothing that is current; run snakemake --cores 2 --config scale={plan.scale}"
        )
    names += [str(job.cost) for job in costs.jobs(plan).values() if job.cost.exists()]
    results = Results(Path(plan.results))
    made = {paper: describe(plan, plan.papers[paper], results) for paper in judged}
    manifest = {"format": FORMAT, "scale": plan.scale, "files": {}}
    manifest |= {"claims": {paper: claims_key(plan, paper) for paper in judged}, "provenance": made}
    with written(output) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(names):
            content, name = Path(path).read_bytes(), Path(path).relative_to(plan.results).as_posix()
            manifest["files"][name] = hashlib.sha256(content).hexdigest()
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
        words = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        archive.writestr(zipfile.ZipInfo(MANIFEST, EPOCH), words, zipfile.ZIP_DEFLATED)
    return manifest


def is_judged(plan: Plan, paper: str, packed: set[str]) -> bool:
    """Whether a paper's claims are there, all that they were judged by is packed, and none of it is newer."""
    read = plan.read_files(paper, plan.papers[paper].raw["experiments"])
    tables = claims_of(plan, paper)
    there = set(read) <= packed and all(path.exists() for path in tables)
    return there and not outdated(plan, paper, *tables)


def claims_of(plan: Plan, paper: str) -> list[Path]:
    """What the rule `claims` makes."""
    results = Path(plan.results)
    return [results / f"tables/{paper}_{kind}" for kind in JUDGED] + sorted(
        path for path in (results / f"figures/claims/{paper}").rglob("*") if path.is_file()
    )


def claims_key(plan: Plan, paper: str) -> str:
    return plan.keys.path(f"claims/{paper}").read_text()


def unpack(source: Path, scratch: Path) -> Outcome:
    """Look at the whole archive, in the folder `scratch`, then install what is current here."""
    manifest = extracted(source, scratch)
    plan = Plan({"scale": manifest["scale"]})
    hold()
    plan.expect()  # the keys come first: what is installed is newer than they are
    done = Outcome(plan.scale)
    chosen = chosen_files(plan, manifest, scratch)
    done.left_out = sorted(set(manifest["files"]) - set(chosen))
    for name in chosen:
        target = Path(plan.results) / name
        if target.exists() and target.read_bytes() == (scratch / name).read_bytes():
            done.kept.append(name)
        else:
            done.installed.append(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            with written(target) as temporary:
                temporary.write_bytes((scratch / name).read_bytes())
        os.utime(target)  # in this order, so that nothing is older than what it was made of
    forget_records([f"{plan.results}/{name}" for name in chosen if not name.startswith("logs/")])
    needed = {name for e in plan.experiments.values() for name in plan.datasets.named_by(e)}
    needed |= {e.dataset for e in plan.experiments.values()} - {"synthetic"}
    done.lacking = sorted(n for n in needed if not Path(f"data/decoded/{n}/meta.json").exists())
    return done


def chosen_files(plan: Plan, manifest: dict, scratch: Path) -> list[str]:
    """What is installed, what others are made of first. Only names that this project gives its own files are taken."""
    files = set(manifest["files"])
    solved, traces, rest = [], [], []
    for experiment in plan.experiments.values():
        ran = [
            Path(p).relative_to(plan.results).as_posix() for p in current_traces(plan, experiment, scratch)
        ]
        ran = [name for name in ran if name in files]
        if ran and is_solved(plan, experiment.name, scratch):
            solved.append(Path(plan.reference(experiment.name)).relative_to(plan.results).as_posix())
            traces += ran
    for paper, key in manifest["claims"].items():
        if paper in plan.papers and key == claims_key(plan, paper):
            read = {f"traces/{b.experiment.name}/{b.name}.parquet" for b in plan.papers[paper].blocks}
            own = (f"tables/{paper}_", f"figures/claims/{paper}/")
            rest += [name for name in files if name.startswith(own) and read <= set(traces)]
    named = {job.cost.relative_to(plan.results).as_posix() for job in costs.jobs(plan).values()}
    return [*solved, *traces, *sorted(rest), *sorted(named & files)]


def extracted(source: Path, scratch: Path) -> dict:
    """The manifest of an archive whose every file is there and whole."""
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = json.loads(archive.read(MANIFEST))
            if manifest["format"] != FORMAT or manifest["scale"] not in SCALES:
                raise ConfigError(
                    f"{source} was packed by another version of fedrepro: check out that version"
                )
            for name, known in manifest["files"].items():
                content = archive.read(name)
                if hashlib.sha256(content).hexdigest() != known:
                    raise ConfigError(
                        f"{source} is damaged: {name} is not what its manifest says; fetch it again"
                    )
                target = scratch / name
                if not target.resolve().is_relative_to(scratch.resolve()):
                    raise ConfigError(
                        f"{source}: '{name}' lies outside of the results; nothing was installed"
                    )
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            return manifest | {"claims": dict(manifest["claims"])}
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, AttributeError):
        raise ConfigError(f"{source} is damaged or no archive of `fedrepro pack`; fetch it again") from None


def forget_records(files: list[str]) -> None:
    """Snakemake may remember other parameters for files of these names, from a run before."""
    if files and Path(".snakemake/metadata").exists():
        command = [sys.executable, "-m", "snakemake", "--cleanup-metadata", *files]
        subprocess.run(command, capture_output=True, check=False)
