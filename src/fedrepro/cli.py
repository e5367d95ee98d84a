"""`fedrepro list|run|status|claims|diff|score|tidy|publish|pack|unpack|resume|crate|fidelity|codecheck|api`: look around, try
a block or a method, go on with a run, take results elsewhere, make pages anew."""

import argparse
import os
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from fedrepro.datasets import DataError
from fedrepro.datasets.files import Damaged
from fedrepro.experiments.experiment import SCALES
from fedrepro.pipeline.config import ConfigError, nearest


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fedrepro", description=__doc__)
    parser.add_argument(
        "--scale", choices=SCALES, help="which sizes (default: paper; of status: the last run's)"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every experiment and its blocks")
    run = commands.add_parser("run", help="run one block here and print how its cells ended")
    run.add_argument("experiment", help="for example fedsplit_fig1")
    run.add_argument("block", help="for example fedgd")
    status = commands.add_parser(
        "status", help="how far a run is, what failed and why, which blocks have run"
    )
    status.add_argument("--blocks", action="store_true", help="every block, and how its cells ended")
    commands.add_parser("claims", help="the verdicts of a finished run")
    diff = commands.add_parser("diff", help="compare two result folders cell by cell, clocks apart")
    diff.add_argument("one", type=Path, help="for example results/smoke")
    diff.add_argument("other", type=Path)
    diff.add_argument("--tolerance", type=float, default=0.0, help="relative (default: 0, the same bits)")
    score = commands.add_parser("score", help="your own method in the arena, beside the published results")
    score.add_argument("file", type=Path, help="for example mine.py")
    score.add_argument("--output", type=Path, help="the page (default: mine.html beside where you are)")
    tidy = commands.add_parser("tidy", help="files in the results that no rule makes")
    tidy.add_argument("--remove", action="store_true", help="remove them")
    commands.add_parser("publish", help="what is there of this scale, into docs/ and the README's summary")
    pack = commands.add_parser("pack", help="one archive of what this scale computed, to be taken elsewhere")
    pack.add_argument("folder", type=Path, help="for example results/paper")
    pack.add_argument("-o", "--output", type=Path, help="the archive (default: fedrepro-<scale>.zip)")
    unpack = commands.add_parser(
        "unpack", help="check such an archive and install it, as if it had been run here"
    )
    unpack.add_argument("file", type=Path, help="for example fedrepro-paper.zip")
    resume = commands.add_parser("resume", help="go on with a run that was stopped or killed")
    resume.add_argument("--cores", default=str(os.cpu_count()), help="how many (default: all)")
    resume.add_argument("target", nargs="*", help="for example fedsplit_fig3 (default: everything)")
    crate = commands.add_parser("crate", help="a finished run as a Workflow Run RO-Crate, a zip")
    crate.add_argument("folder", type=Path, help="for example results/paper")
    crate.add_argument("--output", type=Path, help="the zip (default: crate-paper.zip where you are)")
    commands.add_parser(
        "fidelity", help="renew the table of what differs from the papers in config/README.md"
    )
    commands.add_parser("codecheck", help="renew codecheck.yml, the list of published figures and tables")
    commands.add_parser("api", help="renew docs/api.md, the page of the library")
    given = parser.parse_args(words)
    if given.command != "status":
        given.scale = given.scale or "paper"
    try:
        return globals()[f"show_{given.command}"](given)
    except BrokenPipeError:  # the reader of a pipe had enough
        return 0
    except (ConfigError, DataError, Damaged, OSError) as error:
        print(f"fedrepro: {error}", file=sys.stderr)
        return 1


def plan(given):
    from fedrepro.pipeline.plan import Plan

    return Plan({"scale": given.scale})


def plan_of_folder(given):
    """The plan of the scale whose results lie in the folder that was named."""
    given.scale = given.folder.name
    if given.scale not in SCALES or given.folder.absolute() != Path("results", given.scale).absolute():
        raise ConfigError(f"{given.folder} is no folder of results here; name one like results/paper")
    return plan(given)


def show_list(given) -> int:
    for block in plan(given).config.blocks:
        run = block.experiment
        print(f"{run.name:28} {block.name:24} {block.cells:5} cells  on {run.dataset}")
    return 0


def show_run(given) -> int:
    from fedrepro.experiments.problem import Data
    from fedrepro.experiments.runner import run_block, solve_references

    p = plan(given)
    if given.experiment not in p.experiments:
        raise ConfigError(f"no experiment '{given.experiment}'; {nearest(given.experiment, p.experiments)}")
    names = [name for experiment, name in p.blocks if experiment == given.experiment]
    if given.block not in names:
        raise ConfigError(f"no block '{given.block}' in {given.experiment}; {nearest(given.block, names)}")
    block = p.blocks[given.experiment, given.block]
    files = p.data(block.experiment)
    missing = [path for path in files.values() if not Path(path).exists()]
    if missing:
        raise FileNotFoundError(
            f"{missing[0]} is not there yet; make it with: snakemake --cores 2 {missing[0]}"
        )
    data = Data.of(block.experiment, files.get("partition"))
    scratch = Path(tempfile.mkdtemp(prefix="fedrepro-"))  # never under results: a hand-made trace is nobody's
    reference, output = scratch / f"{given.experiment}.npz", scratch / f"{given.block}.parquet"
    solve_references(block.experiment, reference, data)
    run_block(block, reference, output, data)
    print(endings(output).to_string(index=False))
    print(f"trace: {output}")
    return 0


def endings(path):
    from fedrepro.experiments.results import last_rows
    from fedrepro.experiments.trace import read

    ends = last_rows(read(path))
    first = [c for c in ("setting", "params", "seed", "round", "status") if c in ends]
    return ends[[*first, *[c for c in ("gap", "value") if c in ends]]]


def show_status(given) -> int:
    """The run first, which needs no configuration; the blocks by their traces, which are opened only if each is asked for."""
    from fedrepro.pipeline import progress
    from fedrepro.pipeline.config import load

    run = progress.load()
    print(*(run.report(time.time()) if run else ["no run yet"]), sep="\n", flush=True)
    from fedrepro.pipeline.keys import Keys  # takes as long to import as all above takes

    scale = given.scale or (run.scale if run else "paper")
    keys = Keys(f"results/{scale}")
    print(f"\nblocks that have run at scale {scale}" + ("" if given.blocks else " (--blocks lists them)"))
    for name, paper in load({"scale": scale}).papers.items():
        experiments: dict[str, list[bool]] = {}
        for block in paper.blocks:
            path = Path(f"results/{scale}/traces/{block.experiment.name}/{block.name}.parquet")
            there = keys.met(f"traces/{block.experiment.name}/{block.name}", path)
            experiments.setdefault(block.experiment.name, []).append(there)
            if given.blocks:
                counts = endings(path).status.value_counts() if there else {}
                state = ", ".join(f"{n} {status}" for status, n in counts.items()) or "no trace yet"
                print(f"{block.experiment.name:28} {block.name:24} {state}")
        if not given.blocks:
            print(of_paper(name, experiments))
    return 0


def of_paper(name: str, experiments: dict[str, list[bool]]) -> str:
    """How many blocks of a paper have run, and which experiments are incomplete."""
    there = [ran for blocks in experiments.values() for ran in blocks]
    counts = f"  {name:10} {sum(there):3} of {len(there):3} blocks"
    lacking = [
        f"{experiment.removeprefix(f'{name}_')} {sum(blocks)}/{len(blocks)}"
        for experiment, blocks in experiments.items()
        if not all(blocks)
    ]
    if not lacking or not any(there):
        return counts
    return textwrap.fill(f"{counts}; incomplete: {', '.join(lacking)}", 110, subsequent_indent=" " * 14)


def show_claims(given) -> int:
    """Of every paper that was judged and whose verdicts are those of what is here now."""
    from fedrepro.experiments.results import Results
    from fedrepro.pipeline.current import outdated

    p = plan(given)
    p.expect()
    results = Results(Path(p.results))
    tables = {name: results.folder / f"tables/{name}_claims.csv" for name in p.papers}
    judged = {name: path for name, path in tables.items() if path.exists()}
    if not judged:
        raise FileNotFoundError(f"{results.folder}/tables has no claims: {results.remedy}")
    old = {name: words for name, path in judged.items() if (words := outdated(p, name, path))}
    for name in judged.keys() - old.keys():
        try:
            for row in results.claims(name).itertuples():
                print(f"{row.id:5} {row.verdict:15} {row.statement}")
                print(f"{'':21} paper: {row.paper_value}; ours: {row.why}")
        except (ValueError, AttributeError) as error:
            raise Damaged({str(judged[name]): " ".join(str(error).split())}) from None
    for words in old.values():
        print(f"fedrepro: {words}", file=sys.stderr)
    return int(bool(old))


def show_tidy(given) -> int:
    from fedrepro.pipeline.tidy import tidy

    p = plan(given)
    print(*tidy(Path(p.results), p.made(), given.remove), sep="\n")
    return 0


def show_fidelity(given) -> int:
    from fedrepro.pipeline.config import load
    from fedrepro.pipeline.documents import read_text
    from fedrepro.reporting.fidelity import BEGIN, END, replaced

    page = Path("config/README.md")
    text = read_text(page)
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ConfigError(f"{page} has no place for the table, between '{BEGIN}' and '{END}'")
    page.write_text(replaced(text, load({"scale": "paper"}).papers))
    return 0


def show_codecheck(given) -> int:
    from fedrepro.pipeline.config import load
    from fedrepro.pipeline.documents import citation
    from fedrepro.reporting.codecheck import text

    Path("codecheck.yml").write_text(text(load({"scale": "paper"}).papers, citation()))
    return 0


def show_api(given) -> int:
    from fedrepro.reporting.api import page

    Path("docs/api.md").write_text(page())
    return 0


def show_crate(given) -> int:
    from fedrepro.pipeline.crate import crate

    p = plan_of_folder(given)
    output = given.output or Path(f"crate-{given.scale}.zip")
    for name, why in crate(p, output).items():
        print(f"left out: {name}, {why}")
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB")
    return 0


def show_publish(given) -> int:
    from fedrepro.pipeline.publish import publish

    manifest = publish(plan(given), Path("docs"), Path("README.md"))
    for name, why in manifest["missing"].items():
        print(f"not published: {name}, {why}")
    for name, what in manifest["older"].items():
        print(f"computed by an earlier version of the code: {name}, {what}")
    print(f"docs/index.html: {', '.join(manifest['papers'])} at scale {manifest['scale']}")
    return 0


def show_pack(given) -> int:
    from fedrepro.pipeline.archive import pack

    p = plan_of_folder(given)
    output = given.output or Path(f"fedrepro-{given.scale}.zip")
    manifest = pack(p, output)
    whole = ", ".join(manifest["claims"]) or "none"
    megabytes = output.stat().st_size / 1e6
    print(f"{output}: {len(manifest['files'])} files, {megabytes:.1f} MB; papers that are whole: {whole}")
    return 0


def show_unpack(given) -> int:
    from fedrepro.pipeline.archive import unpack

    with tempfile.TemporaryDirectory() as scratch:
        done = unpack(given.file, Path(scratch))
    print(f"results/{done.scale}: {len(done.installed)} files installed, {len(done.kept)} were there already")
    if done.left_out:
        print(
            f"{len(done.left_out)} left out, {done.left_out[0]} the first: made by other code, another configuration or "
            "from other data than are here"
        )
    if done.lacking:
        print(
            f"Not here: the data of {', '.join(done.lacking)}. Snakemake would run again what newly decoded data came after: "
            f"`snakemake --cores 2 data --config scale={done.scale}` first, then unpack once more"
        )
    print(f"What is still to do: snakemake -n --config scale={done.scale}")
    return 0


def show_resume(given) -> int:
    """What Snakemake's own command does as well; and a home that cannot be written is replaced, which Snakemake, Matplotlib
    and Jupyter would all stumble over."""
    p = plan(given)
    p.expect()
    traces = {f"traces/{e}/{name}": Path(p.trace(block)) for (e, name), block in p.blocks.items()}
    missing = sum(not p.keys.met(name, path) for name, path in traces.items())
    print(
        f"{len(p.config.blocks) - missing} of {len(p.config.blocks)} blocks have run at scale {given.scale}",
        flush=True,
    )
    if not os.access(Path.home(), os.W_OK):
        os.environ["HOME"] = str(Path(".snakemake/home").absolute())
        Path(os.environ["HOME"]).mkdir(parents=True, exist_ok=True)
    words = ["--cores", given.cores, *given.target, "--config", f"scale={given.scale}"]
    os.execv(sys.executable, [sys.executable, "-m", "snakemake", *words])


def arena_results(p, work: Path):
    """What a method is scored against: the results here or, where the arena was not run, the published standings."""
    from fedrepro.experiments.results import Results
    from fedrepro.papers.arena import standings
    from fedrepro.pipeline.config import ROOT

    p.expect()
    contests = [b for b in p.papers["arena"].blocks if b.experiment.name in standings.EVERYTHING]
    published = ROOT / "docs" / standings.FILE
    if all(Path(p.trace(b)).exists() for b in contests) or not published.exists():
        return Results(Path(p.results))
    found = standings.opened(published, work / "published")
    if found.scale != p.scale:
        raise ConfigError(
            f"the arena was not run at scale {p.scale}: snakemake --cores 2 arena --config scale={p.scale} runs it;"
            f" published is scale {found.scale}"
        )
    if other := [
        b for b in contests if found.expected("traces", f"{b.experiment.name}/{b.name}") != p.block_key(b)
    ]:
        raise ConfigError(
            f"{published} was made by another configuration or other code than this ({other[0].experiment.name}/"
            f"{other[0].name}): snakemake --cores 2 arena --config scale={p.scale} runs what is here"
        )
    return found


def show_score(given) -> int:
    from fedrepro.papers.arena import score
    from fedrepro.pipeline.config import ROOT

    p = plan(given)
    output = given.output or Path(f"{given.file.stem}.html")
    with tempfile.TemporaryDirectory(prefix="fedrepro-") as work:
        try:
            name, joined = score.score(
                given.file, p.papers["arena"], arena_results(p, Path(work)), Path(work), ROOT / "tests"
            )
        except score.Refused as error:
            print(f"refused: {error}", file=sys.stderr)
            return 1
        output.write_text(score.page(name, joined))
    print(f"{name} in the arena: {output}")
    return 0


def show_diff(given) -> int:
    from fedrepro.experiments.comparison import differences, sorted_out

    for folder in (given.one, given.other):
        if not (folder / "traces").is_dir():
            raise FileNotFoundError(f"{folder} has no traces; name two folders like results/smoke")
    count = 0
    for heading, sentences in sorted_out(differences(given.one, given.other, given.tolerance)).items():
        if sentences:
            print(f"{heading} ({len(sentences)})", *sentences, sep="\n  ")
        count += len(sentences)
    print(f"{count} difference{'s' * (count != 1)}" if count else "no differences")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
