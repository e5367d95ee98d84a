"""No number in a sentence that no code computed: claim modules, captions and notebooks are read for typed digits.

Allowed are digits that name something: an equation, figure, section or theorem, a claim, a parameter and its value, a
method, measure, norm or dataset, and those inside a formula. A measured number is made where it is said, or shown by a cell.
"""

import ast
import json
import re
from pathlib import Path

import pytest

from fedrepro.pipeline.config import ROOT
from fedrepro.pipeline.documents import read_yaml

PAPERS = sorted(path.stem for path in (ROOT / "config/papers").glob("*.yaml"))
NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))

ONE = r"(?:[A-Z]\.?)?\d{1,2}(?!\d)(?:\.\d+)*(?:\s?\([a-z]\)|[a-z])?(?:['’]s)?"  # 3, 2a, 2(a), S1, 4.1, B.2.2
NAMES = [
    # what a text counts: figures 3, 6 and 7; eq. (16); Theorem 4.1
    rf"\b(?:figures?|sections?|eqs?\.?|equations?|theorems?|lemmas?|corollar(?:y|ies)|propositions?|algorithms?|"
    rf"assumptions?|tables?|appendix|setups?|problems?|remarks?|steps?|lines?|footnotes?)\s*\(?{ONE}\)?"
    rf"(?:(?:\s*(?:,|and|or|to|-|–)\s*)+\(?{ONE}\)?)*",
    r"\((?:[A-Z]\.?)?\d+(?:\.\d+)*(?:[a-z])?\)",  # (16), (4.2)
    r"\b[A-Z]\.\d+(?:\.\d+)*",  # B.2.2
    r"\b[A-Z]{1,2}\d+(?:\s*[-–]\s*[A-Z]{1,2}\d+)?\b",  # C8, S1-S17, F1
    r"\b[lLℓ][_-]?[012]\b|\b[lL]1-\w+",  # norms
    r"\b(?:w8a|news20|20 ?[Nn]ewsgroups|CIFAR-10|float(?:32|64))\b",
    r"\"[^\"]+\"|“[^”]+”",  # the paper's words
    # a parameter and its value: a gap of 1e-3, rank 4, e = 10, kappa = 10,000, K ∈ {1, 4}, with e = 1 or 10
    r"\b(?:(?:gap|cost)(?: of| to| is at)|rank|radius|packs of) [\d.,]*\d(?:e-?\d+)?|\bproduct in \[[\d., ]+\]",
    r"[\w*κληρμσαβγδε]+\s*(?:=|<|>|≤|≥|∈)\s*\{?-?[\d.,]*\d(?:e-?\d+)?(?:(?:\s*(?:,|and|or|to|…)\s*)+-?[\d.,]*\d(?:e-?\d+)?)*\}?",
]  # fmt: skip
FORMULA = [
    r"\$[^$]+\$",
    r"`[^`]+`",
    r"[^\s\d.,;:()“”\"'’–-][^\s.,;:]*\d\S*",  # 2/L* has its digit beside a sign: q+1, x², λ_{q+1}, )/2
    r"\d+(?:/\(|[/*^×·]\S|[^\W\d_]\b(?<![a-z]))\S*",  # 2/(l* + L*), 2ψ
    r"\(\S[^()]*\)/\d",
]


def typed(text: str) -> list[str]:
    """The words with digits that name nothing."""
    for pattern in (*NAMES[:1], *FORMULA[:2], *NAMES[1:]):
        text = re.sub(pattern, " ", text, flags=re.IGNORECASE if pattern is NAMES[0] else 0)
    for pattern in FORMULA[2:]:
        text = re.sub(rf"(?<!\S){pattern}|(?<=[\s(]){pattern}", " ", text)
    return re.findall(r"\S*\d\S*", text)


def sentences(source: str) -> list[str]:
    """The strings of a module that are words for readers: with a blank in them, and neither docstrings nor formats."""
    tree = ast.parse(source)
    aside = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            aside.add(id(node.value))
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            aside |= {id(inner) for inner in ast.walk(node.format_spec)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in aside
        and re.search(r"\s", node.value.strip())
    ]


def claim_modules(paper: str) -> list[Path]:
    folder = ROOT / "src/fedrepro/papers" / paper
    return [path for path in (folder / "claims.py", *sorted(folder.glob("claims/*.py"))) if path.exists()]


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_type_no_number(paper):
    modules = claim_modules(paper)
    assert modules
    found = {m.name: [(w, s) for s in sentences(m.read_text()) for w in typed(s)] for m in modules}
    assert {k: v for k, v in found.items() if v} == {}


@pytest.mark.parametrize("paper", PAPERS)
def test_captions_type_no_number(paper):
    figures = read_yaml(ROOT / f"config/papers/{paper}.yaml")["figures"]
    found = {k: typed(entry["caption"]) + typed(entry["title"]) for k, entry in figures.items()}
    assert {k: v for k, v in found.items() if v} == {}


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_notebooks_type_no_number(notebook):
    cells = json.loads((ROOT / f"notebooks/{notebook}.ipynb").read_text())["cells"]
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert [(w, p) for p in prose for w in typed(p)] == []


@pytest.mark.parametrize(
    "text",
    [
        "figures 3, 6, 7, 8 and 12", "Figure 2(a)'s problem", "section 3.3 and B.2.2", "eq. (22) predicts", "by (4.2)",
        "the sparse half of C8, F1 and the l1 ball", "FedGD with e = 10 at kappa = 10,000", "for e = 1 or 10",
        "Theorem 4.1, Corollary 2", "minimises F + 2ψ", "the stepsize 2/(ℓ* + L*)", "ρ* = (λ_{q+1} + λ_n)/2 is best",
        "the step `1/L*`", "$\\kappa = 100$", "figures 8-10", "on w8a", "from 1/L* on", "to a gap of 1e-3",
        "in the l1 ball of radius 1,000",
    ],
)  # fmt: skip
def test_names_are_allowed(text):
    assert typed(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "needs 34,000 rounds", "about 7.2x slower", "within 5 % of it", "falls below 1e-3", "the paper draws 2.63",
        "is 3 times as fast", "in figure 3, 141 rounds", "(about 0.5)",
    ],
)  # fmt: skip
def test_measured_numbers_are_not(text):
    assert typed(text)


def test_what_readers_see_is_told_from_names_and_formats():
    source = '"""Doc 1."""\nx = f"it took {v:.2f} of 3 rounds"\ny = results.ends("fedsplit_fig1")\n'
    assert [s for s in sentences(source) if typed(s)] == [" of 3 rounds"]
