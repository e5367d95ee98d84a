"""`fedrepro list|run|status|claims`: look around and debug a block without Snakemake."""

import argparse
import sys
from pathlib import Path

from fedrepro.config import SCALES, ConfigError, nearest


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fedrepro", description=__doc__)
    parser.add_argument("--scale", choices=SCALES, default="paper", help="which sizes (default: paper)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every experiment and its blocks")
    run = commands.add_parser("run", help="run one block here and print how its cells ended")
    run.add_argument("experiment", help="for example fedsplit_fig1")
    run.add_argument("block", help="for example fedgd")
    commands.add_parser("status", help="which blocks have traces, and how their cells ended")
    commands.add_parser("claims", help="the verdicts of a finished run")
    given = parser.parse_args(words)
    try:
        return globals()[f"show_{given.command}"](given)
    except (ConfigError, FileNotFoundError) as error:
        print(f"fedrepro: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe had enough
        return 0


def plan(given):
    from fedrepro.workflow import Plan

    return Plan({"scale": given.scale})


def show_list(given) -> int:
    for block in plan(given).config.blocks:
        cells = len(block.settings) * len(block.params) * block.seeds
        print(f"{block.experiment:28} {block.name:24} {cells:5} cells  on {block.dataset}")
    return 0


def show_run(given) -> int:
    from fedrepro.problems import Data
    from fedrepro.runner import run_block, solve_references

    p = plan(given)
    if given.experiment not in p.experiments:
        raise ConfigError(f"no experiment '{given.experiment}'; {nearest(given.experiment, p.experiments)}")
    names = [name for experiment, name in p.blocks if experiment == given.experiment]
    if given.block not in names:
        raise ConfigError(f"no block '{given.block}' in {given.experiment}; {nearest(given.block, names)}")
    block = p.blocks[given.experiment, given.block]
    missing = [path for path in p.data(block).values() if not Path(path).exists()]
    if missing:
        raise FileNotFoundError(
            f"{missing[0]} is not there yet; make it with: snakemake --cores 2 {missing[0]}"
        )
    data = None if block.dataset == "synthetic" else Data(block.dataset, p.data(block).get("partition"))
    reference, output = Path(p.reference(given.experiment)), Path(p.trace(block))
    if not reference.exists():
        reference.parent.mkdir(parents=True, exist_ok=True)
        solve_references(block, reference, data)
    run_block(block, reference, output, data)
    print(endings(output).to_string(index=False))
    print(f"trace: {output}")
    return 0


def endings(path):
    from fedrepro.results import last_rows
    from fedrepro.trace import read

    ends = last_rows(read(path))
    first = [c for c in ("setting", "params", "seed", "round", "status") if c in ends]
    return ends[[*first, *[c for c in ("gap", "value") if c in ends]]]


def show_status(given) -> int:
    p = plan(given)
    for block in p.config.blocks:
        path = Path(p.trace(block))
        state = "no trace yet"
        if path.exists():
            counts = endings(path).status.value_counts()
            state = ", ".join(f"{n} {status}" for status, n in counts.items())
        print(f"{block.experiment:28} {block.name:24} {state}")
    return 0


def show_claims(given) -> int:
    from fedrepro.results import Results

    for row in Results(Path(f"results/{given.scale}")).claims().itertuples():
        print(
            f"{row.id:5} {row.verdict:15} {row.statement}\n{'':21} paper: {row.paper_value}; ours: {row.our_value}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
