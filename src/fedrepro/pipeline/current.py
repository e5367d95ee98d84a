"""Whether what lies in the results is what this configuration and code ask for: traces and references by the keys they carry,
what is made of them by its age.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from fedrepro.datasets.files import Damaged
from fedrepro.experiments import reference
from fedrepro.experiments.experiment import Experiment
from fedrepro.pipeline.plan import JUDGED, Plan


def current_traces(plan: Plan, experiment: Experiment, folder: Path | None = None) -> list[str]:
    """The traces of an experiment made by this configuration and code, and from the data here if there are any. `folder`
    stands for the results, where they lie elsewhere."""
    found = []
    for block in (b for (name, _), b in plan.blocks.items() if name == experiment.name):
        path = Path(plan.trace(block))
        there = folder / path.relative_to(plan.results) if folder else path
        try:
            if there.exists() and plan.carried(block, there) == plan.block_key(block):
                found.append(str(path))
        except Damaged:
            continue
    return found


def is_solved(plan: Plan, experiment: str, folder: Path | None = None) -> bool:
    path = Path(plan.reference(experiment))
    there = folder / path.relative_to(plan.results) if folder else path
    try:
        return there.exists() and reference.key(there) == plan.reference_key(plan.experiments[experiment])
    except Damaged:
        return False


def outdated(plan: Plan, paper: str, *outputs: Path) -> str:
    """Why a paper, or some of its outputs, cannot be taken as they lie there: one of them is older than something it is made
    of, and shows or judges what was here before; '' where none is. The keys of `plan` must have been written
    (`Plan.expect`)."""
    old = {
        output: rule
        for rule, output, sources in made(plan, paper)
        if newer(output, sources) and (not outputs or output in outputs)
    }
    if not old:
        return ""
    first, more = next(iter(old)), f" and {len(old) - 1} more" if len(old) > 1 else ""
    rules = " ".join(dict.fromkeys(old.values()))
    return (
        f"{first}{more} older than what was read for that: run "
        f"snakemake --cores 2 {paper} --forcerun {rules} --config scale={plan.scale}"
    )


def newer(output: Path, sources: Iterable[Path]) -> bool:
    """Whether an output is there and one of its sources is newer."""
    if not output.exists():
        return False
    made = output.stat().st_mtime
    return any(source.exists() and source.stat().st_mtime > made for source in sources)


def made(plan: Plan, paper: str) -> Iterator[tuple[str, Path, list[Path]]]:
    """What is made of a paper's traces and references: the rule, the output, and all that the rule reads."""
    raw, key, results = plan.papers[paper].raw, plan.keys.path, Path(plan.results)
    judged = [key(f"claims/{paper}"), *read(plan, paper, list(raw["experiments"]))]
    for kind in JUDGED:
        yield "claims", results / f"tables/{paper}_{kind}", judged
    for name, entry in raw["figures"].items():
        drawn = [key(f"figures/{paper}/{name}"), *read(plan, paper, entry["experiments"])]
        for file in plan.figure_files(paper, name):
            yield "figure", Path(file), drawn
    shown = [
        key(f"notebooks/{paper}"),
        Path(f"notebooks/{paper}.ipynb"),
        results / f"tables/{paper}_claims.csv",
    ]
    shown += map(Path, plan.all_figures(paper))
    for kind in ("ipynb", "html"):
        yield "notebook", results / f"notebooks/{paper}.{kind}", shown
    yield "hyperparameters", results / f"tables/{paper}_hyperparameters.csv", [plan.papers[paper].path]
    parts = list(map(Path, plan.datasets.parts(paper)))
    for picture in plan.datasets.pictures(paper):
        yield f"partition_pictures_{paper}", Path(picture), parts


def read(plan: Plan, paper: str, experiments: list[str]) -> list[Path]:
    """The traces and references of some experiments, and the keys that these must carry."""
    files = plan.read_files(paper, experiments)
    names = [Path(file).relative_to(plan.results).with_suffix("").as_posix() for file in files]
    return [*map(Path, files), *map(plan.keys.path, names)]
