"""How far scale `paper` is the papers' own size: a table made from their YAML, for config/README.md."""

from collections.abc import Iterator

from fedrepro.experiments.experiment import Paper

BEGIN, END = "<!-- fidelity: made by `make fidelity` -->", "<!-- end of fidelity -->"
HEAD = "| experiment | what the paper has | what scale `paper` has | why |\n|---|---|---|---|"


def differences(paper: Paper) -> Iterator[tuple[str, str, dict]]:
    """(experiment, parameter, entry) wherever an entry says that the paper has something else."""
    for name, part in paper.raw.get("partitions", {}).items():
        yield from (
            (f"clients of {name}", k, e) for k, e in part.get("parameters", {}).items() if "printed" in e
        )
    for name, experiment in paper.raw["experiments"].items():
        sections = [experiment.get("parameters", {}), experiment["stop"]]
        sections.append({"seeds": experiment["seeds"]} if "seeds" in experiment else {})
        known = {}
        for block, given in experiment["algorithms"].items():
            for part in ("parameters", "stop"):
                for key, entry in ((given or {}).get(part) or {}).items():
                    known.setdefault((key, repr(entry)), (entry, []))[1].append(block)
        for section in sections:
            yield from ((name, k, e) for k, e in section.items() if isinstance(e, dict) and "printed" in e)
        for (key, _), (entry, blocks) in known.items():
            if isinstance(entry, dict) and "printed" in entry:
                yield name, f"{key} of {', '.join(blocks)}", entry


def stated(node) -> bool:
    """Whether anything in a section comes from a paper; where all of it is our choice there is none to differ from."""
    if not isinstance(node, dict):
        return False
    if isinstance(node.get("source"), str) and node["source"] != "our choice":
        return True
    return any(map(stated, node.values()))


def shown(value) -> str:
    return (
        ", ".join(map(shown, value))
        if isinstance(value, list)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def markdown(papers: dict[str, Paper]) -> str:
    """For every paper: the experiments that run as printed, then a line for each remaining difference."""
    lines = [BEGIN]
    for name, paper in papers.items():
        if not stated(paper.raw["experiments"]):
            continue
        found = list(differences(paper))
        other = {experiment for experiment, _, _ in found}
        same = [e for e in paper.raw["experiments"] if e not in other]
        lines += ["", f"**{name}**: as printed, where the paper states it: {', '.join(same) or 'none'}."]
        if found:
            lines += ["", HEAD]
        for experiment, parameter, entry in found:
            ours = entry.get("grid", entry.get("value"))
            cells = (experiment, f"{parameter}: {shown(entry['printed'])}", shown(ours), entry["why"])
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, END])


def replaced(page: str, papers: dict[str, Paper]) -> str:
    """The page with its table renewed."""
    head, rest = page.split(BEGIN)
    return head + markdown(papers) + rest.split(END)[1]
