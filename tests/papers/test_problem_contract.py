"""What every problem of every paper must satisfy. A new one is tested without being listed.

Those on data are built where the data are: tests/workflow runs them all.
"""

import inspect
import pkgutil

import numpy as np
import pytest

from fedrepro import papers
from fedrepro.experiments import problem as problems
from fedrepro.experiments.problem import Problem
from fedrepro.experiments.registry import problem
from fedrepro.federation.protocol import Federation
from fedrepro.pipeline.config import ROOT, load
from fedrepro.pipeline.data_plan import DataPlan

PAPERS = [info.name for info in pkgutil.iter_modules(papers.__path__)]
REGISTERED = [f"{paper}.{name}" for paper in PAPERS for name in problem.names(paper)]
CONFIG = load({"scale": "smoke"}, ROOT)
DATA = DataPlan(CONFIG)
SYNTHETIC = {
    b.experiment.name: b
    for b in CONFIG.blocks
    if b.experiment.dataset == "synthetic" and not DATA.named_by(b.experiment)
}


def answers(clients: Federation) -> dict[str, object]:
    """Oracle -> what these clients answer at the start. Arguments go by their names."""
    numbers = {"step": 0.1, "rows": [0], "mu": 1.0, "each": 1}
    found = {}
    for name in dir(type(clients)):
        method = getattr(type(clients), name)
        marks = [vars(c)[name].oracle for c in type(clients).__mro__ if hasattr(vars(c).get(name), "oracle")]
        if method is None or not marks:
            continue
        given = inspect.signature(method).parameters.values()
        _, *wanted = (p.name for p in given if p.default is p.empty)
        stacked = {"v", "x"} if "rows" in wanted else {"v"}  # for clients each at a point of its own
        at = [clients.stack(clients.start) if w in stacked else numbers.get(w, clients.start) for w in wanted]
        found[marks[0]] = getattr(clients, name)(*at)
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_problems(paper):
    assert problem.names(paper)


@pytest.mark.parametrize("name", REGISTERED)
def test_says_what_it_makes_and_whom_that_federates(name):
    function = problems.get(name)
    assert inspect.getdoc(function), f"{name} needs a docstring: where the paper describes it"
    assert list(inspect.signature(function).parameters) == ["setting", "seed", "data"]
    made = problems.kind(function)
    assert issubclass(made, Problem) and issubclass(made.federation, Federation)
    assert made.federation.offers()


@pytest.mark.parametrize("name", REGISTERED)
def test_some_experiment_uses_it(name):
    assert name in {b.experiment.problem for b in CONFIG.blocks}


@pytest.mark.parametrize("experiment", SYNTHETIC)
def test_its_costs_answer_what_its_federation_offers(experiment):
    block = SYNTHETIC[experiment]
    function = problems.get(block.experiment.problem)
    made = function(dict(block.experiment.settings[0]), 0, None)
    assert isinstance(made, problems.kind(function))
    reference = made.reference()
    clients = made.clients(reference)
    assert type(clients) is made.federation
    assert not any(clients.ledger.row().values())  # nothing is counted before anything happens
    for measure in block.measures:
        value = made.measure(measure, reference)(clients.start, clients)
        assert isinstance(value, float | int) or np.ndim(value) == 0, measure
    found = answers(clients)
    assert set(found) == made.federation.offers()
    again = answers(function(dict(block.experiment.settings[0]), 0, None).clients(reference))
    for oracle, answer in found.items():
        if isinstance(answer, np.ndarray):
            assert np.all(np.isfinite(answer)), oracle
            np.testing.assert_array_equal(answer, again[oracle])
