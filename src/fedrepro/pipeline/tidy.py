"""What lies in the results folder that no rule makes: left by algorithms, figures or claims that are gone."""

from pathlib import Path

from fedrepro.experiments.results import KEYS

KEPT = ("logs", KEYS)  # folders that are nobody's output


def leftovers(folder: Path, made: set[Path]) -> list[Path]:
    """The files below `folder` that are not among those `made` by rules; a folder among them stands for all in it."""
    found = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_dir() or inside.parts[0] in KEPT:
            continue
        if path not in made and not any(parent in made for parent in path.parents):
            found.append(path)
    return found


def tidy(folder: Path, made: set[Path], remove: bool) -> list[str]:
    """A line for every leftover, removed where asked to, and a last one that counts them."""
    found = leftovers(folder, made)
    for path in found:
        if remove:
            path.unlink()
    verb = "removed" if remove else "made by no rule"
    lines = [f"{path}: {verb}" for path in found]
    hint = "" if remove or not found else "; --config remove=true removes them"
    return [*lines, f"{len(found)} file{'s' * (len(found) != 1)} {verb} in {folder}{hint}"]
