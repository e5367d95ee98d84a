"""`fedrepro score`: a file that takes part, and files that are refused."""

import sys
from pathlib import Path

import pytest

from fedrepro import algorithms
from fedrepro.federation.clients import Clients
from fedrepro.papers.arena.score import Refused, blocks, enter, keep_contract
from fedrepro.pipeline.config import load
from watched_federations import NotSent, Private, watched

TESTS = Path(__file__).resolve().parents[2]

HONEST = '''"""Gradient descent with a memory. Me 2026, Algorithm 1."""

from fedrepro.algorithms import algorithm

RANGES = {"step": ["0.1/L*", "2/L*"]}


@algorithm(needs={"gradient"})
def NAME(clients, *, step="1/L*", memory=0.5):
    s = clients.step(step)
    x = last = clients.start
    while True:
        clients.receive(x)
        g = clients.average(clients.gradients(x))
        x, last = x - s * g + memory * (x - last), x
        yield x
'''
IN_FULL = HONEST.replace('{"gradient"}', '{"gradient", "value"}')  # clients whose gradients are arrays
CHEATS = {
    "takes the mean of gradients that nobody sent": IN_FULL.replace(
        "clients.average(clients.gradients(x))", "clients.gradients(x).mean(axis=0)"
    ),
    "keeps the clients' data at the server": IN_FULL.replace(
        "clients.average(clients.gradients(x))",
        "clients.costs.gradient(clients.stack(x)).mean(axis=0)",
    ),
    "sends on a private point": IN_FULL.replace(
        "clients.receive(x)", "clients.receive(clients.gradients(x)[0])"
    ),
}


@pytest.fixture
def entered(tmp_path):
    """A file of this text, known as an algorithm for the length of a test."""
    before = list(algorithms.__path__)

    def go(name, text):
        (tmp_path / f"{name}.py").write_text(text.replace("NAME", name))
        return enter(tmp_path / f"{name}.py", tmp_path / "entered"), tmp_path / "entered"

    yield go
    algorithms.__path__[:] = before
    for name in [n for n in sys.modules if n.startswith("fedrepro.algorithms.my_")]:
        del sys.modules[name]


def test_an_honest_file_keeps_the_contract_and_gets_its_cells(entered):
    name, folder = entered("my_memory", HONEST)
    keep_contract(name, folder, TESTS)
    found = blocks(load({"scale": "smoke", "papers": ["arena"]}).papers["arena"], name)
    assert [b.experiment.name for b in found] == ["arena_smooth"]  # where clients have gradients
    assert found[0].params == ({"step": ["0.1/L*", "2/L*"]},)


def test_a_method_that_cheats_the_ledger_is_refused(entered):
    name, folder = entered("my_cheat", CHEATS["takes the mean of gradients that nobody sent"])
    with pytest.raises(Refused, match="NotSent"):
        keep_contract(name, folder, TESTS)


@pytest.mark.parametrize("how", CHEATS)
def test_cheats_are_noticed(entered, how):
    name, _ = entered("my_cheat", CHEATS[how])
    with pytest.raises(NotSent):
        for point in zip(range(3), algorithms.get(name)(watched(Clients)), strict=False):
            if isinstance(point[1], Private):
                raise NotSent


def test_files_that_are_no_algorithm_are_refused(entered, tmp_path):
    with pytest.raises(Refused, match="must define a function"):
        entered("my_other", HONEST.replace("def NAME", "def elsewhere"))
    (tmp_path / "fedgd.py").write_text(HONEST)
    with pytest.raises(Refused, match="already"):
        enter(tmp_path / "fedgd.py", tmp_path / "entered")
