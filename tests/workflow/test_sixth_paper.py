"""A sixth paper is one folder, one YAML and one notebook: nothing else in the library knows the papers by name."""

import json

import pandas as pd
import pytest

from project_copy import snakemake

pytestmark = pytest.mark.workflow

PROBLEMS = '''"""Two bowls."""

from typing import TypedDict

import numpy as np

from fedrepro.experiments.problem import Problem, problem
from fedrepro.maths.costs import Quadratics
from fedrepro.maths.domains import ConditionNumber


class Bowls(TypedDict):
    kappa: ConditionNumber


@problem()
def bowls(setting: Bowls, seed, data=None) -> Problem:
    """½κx² − x and ½x² + x."""
    return Problem(Quadratics(np.array([[[setting["kappa"]]], [[1.0]]]), np.array([[1.0], [-1.0]]), np.zeros(2)), np.ones(1))
'''

FIGURES = '''"""The sixth paper's figure."""

from fedrepro.experiments.registry import figure
from fedrepro.reporting import panels


@figure()
def fall(results):
    drawn, ((ax,),) = panels.grid()
    panels.curve(ax, results.traces("sixth_slope"), "gap")
    ax.set(yscale="log", xlabel="round", ylabel="gap")
    return drawn
'''

CLAIMS = '''"""The sixth paper's claim."""

from fedrepro.experiments.registry import claim
from fedrepro.reporting.evidence import rows_by_seed


@claim("X1")
def X1(results):
    """The gap at the end."""
    yield from rows_by_seed(results.ends("sixth_slope"), "gap")
'''

CLAIM = """
    where: section 1
    statement: Gradient descent reaches the bottom of two bowls.
    paper_value: the bottom
    experiments: [slope]
    figure: fall
    judged:
      "": { quantity: the gap at the end, relation: < 1e-6 }
"""

PAPER = f"""
paper: sixth
title: Two bowls
authors: Nobody
year: 2026
experiments:
  slope:
    about: Two bowls
    problem: sixth.bowls
    parameters:
      kappa: {{ value: 3.0, source: section 1 }}
    stop:
      rounds: {{ value: 60, source: section 1 }}
    measures: [gap]
    algorithms:
      fedgd: {{}}
figures:
  fall:
    title: Figure 1
    caption: The gap by round.
    experiments: [slope]
claims:
  X1:{CLAIM}"""

CODE = """from pathlib import Path
from fedrepro.experiments.results import Results
Results(Path(results)).claims("sixth")"""


def cell(source: str, **metadata) -> dict:
    return {
        "cell_type": "code", "id": f"cell-{len(source)}", "metadata": metadata, "source": source, "outputs": [],
        "execution_count": None,
    }  # fmt: skip


NOTEBOOK = {
    "cells": [cell('results = "../results/smoke"', tags=["parameters"]), cell(CODE)],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def test_a_folder_a_yaml_and_a_notebook_are_a_paper(project):
    files = {
        "src/fedrepro/papers/sixth/__init__.py": "",
        "src/fedrepro/papers/sixth/problems.py": PROBLEMS,
        "src/fedrepro/papers/sixth/figures.py": FIGURES,
        "src/fedrepro/papers/sixth/claims.py": CLAIMS,
        "config/papers/sixth.yaml": PAPER,
        "notebooks/sixth.ipynb": json.dumps(NOTEBOOK),
    }
    for path, text in files.items():
        (project / path).parent.mkdir(exist_ok=True)
        (project / path).write_text(text)
    snakemake(project, "--cores", "2", "--config", "scale=smoke", "papers=[sixth]")

    results = project / "results/smoke"
    for kind in ("svg", "png"):
        assert (results / f"figures/sixth/fall.{kind}").stat().st_size > 1000
    claims = pd.read_csv(results / "claims.csv", keep_default_na=False)
    assert list(zip(claims.paper, claims.id, claims.verdict, strict=True)) == [("sixth", "X1", "reproduced")]
    assert "X1" in (results / "notebooks/sixth.html").read_text()
    page = (results / "report/index.html").read_text()
    for part in ('id="sixth_fall"', 'id="claim-X1"', "Two bowls", "kappa"):
        assert part in page, part
    assert not [name for name in ("fedsplit", "fedhybrid", "hyfdca", "shed") if f'id="{name}' in page]
    assert {p.name for p in (results / "traces").iterdir()} == {"sixth_slope"}
