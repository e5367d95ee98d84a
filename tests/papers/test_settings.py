"""What a problem declares of its parameters is what it reads: nothing that is given is ignored."""

import numpy as np
import pytest

from fedrepro import algorithms
from fedrepro.experiments import problem as problems
from fedrepro.pipeline.config import ROOT, load
from fedrepro.pipeline.data_plan import DataPlan


class Watched(dict):
    """A setting that remembers which of its keys were looked at."""

    def __init__(self, content, seen=None):
        super().__init__(content)
        self.seen = set() if seen is None else seen

    def __getitem__(self, key):
        self.seen.add(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        self.seen.add(key)
        return super().get(key, default)

    def __contains__(self, key):
        self.seen.add(key)
        return super().__contains__(key)

    def __or__(self, other):
        return Watched({**self, **other}, self.seen)


def synthetic() -> dict:
    """The blocks of one experiment of every problem that draws its own data, and of every choice of its parameters."""
    found = {}
    config = load({"scale": "smoke"}, ROOT)
    catalogue = DataPlan(config)
    for block in config.blocks:
        e = block.experiment
        if e.dataset == "synthetic" and not catalogue.named_by(e):
            blocks = found.setdefault((e.problem, tuple(e.settings[0])), {}).setdefault(e.name, [])
            blocks.append(block)
    return {name: blocks for each in found.values() for name, blocks in list(each.items())[:1]}


BLOCKS = synthetic()


@pytest.mark.parametrize("name", BLOCKS)
def test_what_is_declared_is_read_and_measured(name):
    experiment = BLOCKS[name][0].experiment
    setting = Watched(experiment.settings[0])
    problem = problems.get(experiment.problem)(setting, 0)
    reference = problem.reference()
    clients = problem.clients(reference)
    with np.errstate(invalid="ignore"):  # a relative distance where the optimum is zero, as in a run
        for measure in type(problem).measurable:
            assert isinstance(problem.measure(measure, reference)(clients.start, clients), float | int)
        for block in BLOCKS[name]:
            problem.choose(algorithms.get(block.algorithm), block.params[0], reference)
    assert set(setting) - setting.seen == set()
