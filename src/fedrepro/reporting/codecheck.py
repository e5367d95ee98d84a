"""codecheck.yml: what a codechecker makes anew and compares, from the papers' configuration (codecheck.org.uk)."""

import yaml

from fedrepro.experiments.experiment import Paper

FOLDER = "results/paper"
TABLES = {"hyperparameters.csv": "every setting with its source", "slips.csv": "slips in the text, and what they change"}  # fmt: skip
HEAD = f"""\
# Made by `fedrepro codecheck`. `snakemake --cores 8` makes these files; docs/ has those that are published, with docs/
# in place of {FOLDER}/.
---
"""


def manifest(papers: dict[str, Paper]) -> list[dict[str, str]]:
    """Figures and tables of a full run, with what they show."""
    found = [{"file": f"{FOLDER}/claims.csv", "comment": "every claim of every paper, with its verdict"}]
    for name, paper in papers.items():
        for figure, entry in paper.raw["figures"].items():
            found.append(
                {"file": f"{FOLDER}/figures/{name}/{figure}.svg", "comment": f"{name}: {entry['title']}"}
            )
        for table, words in TABLES.items():
            found.append({"file": f"{FOLDER}/tables/{name}_{table}", "comment": f"{name}: {words}"})
    return found


def text(papers: dict[str, Paper], citation: dict) -> str:
    """The file, as YAML; title and authors are those of CITATION.cff."""
    names = [(a.get("name"), a.get("given-names"), a.get("family-names")) for a in citation["authors"]]
    authors = [{"name": " ".join(str(part) for part in parts if part)} for parts in names]
    content = {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": {"title": citation["title"], "authors": authors},
        "manifest": manifest(papers),
    }
    return HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
