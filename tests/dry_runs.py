"""What Snakemake would do, without doing it."""

import re
import shutil
from pathlib import Path

from project_copy import snakemake

SMOKE = ("--config", "scale=smoke")
RULE, PLAN = 2, -1  # the columns of --summary; the first is the output


def pending(project: Path, *targets: str) -> dict[str, str]:
    """Output -> rule, of everything a dry run would make for these targets, or for all."""
    out = snakemake(project, "-n", "--quiet", "all", "--summary", *targets, *SMOKE).stdout
    lines = [line.split("\t") for line in out.splitlines()]
    return {line[0]: rule(line[RULE]) for line in lines if line[PLAN] == "update pending"}


def rule(name: str) -> str:
    """Blocks that share a job are blocks all the same."""
    return "block" if name.startswith("blocks_") else name


def rules(found: dict[str, str]) -> set[str]:
    return set(found.values())


def blocks(found: dict[str, str]) -> list[str]:
    """The traces among them, `experiment/block.parquet`."""
    return sorted(path.split("/traces/")[1] for path, rule in found.items() if rule == "block")


def papers(found: dict[str, str], known) -> set[str]:
    """Whose they are: the paper that the path names first; outputs that belong to none are left out."""
    names = "|".join(known)
    owners = (re.search(rf"[/_]({names})(?=[/_.])", path) for path in found)
    return {owner[1] for owner in owners if owner}


def copy_of(finished: Path, target: Path) -> Path:
    """A private copy of a finished project, to change things in."""
    shutil.copytree(
        finished, target, symlinks=True, ignore=lambda folder, _: {"data"} if folder == str(finished) else ()
    )
    (target / "data").symlink_to(finished / "data")  # large, and nothing here changes it
    return target


def append(path: Path, text: str = "\n# changed\n") -> None:
    path.write_text(path.read_text() + text)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, f"{path} has no '{old}'"
    path.write_text(text.replace(old, new))
