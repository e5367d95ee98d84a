import numpy as np
import pytest

from fedrepro.datasets.partition import hybrid
from fedrepro.federation.hybrid import HybridClients
from fedrepro.federation.rectangles import Rectangles
from hinge_problems import unit_problem


@pytest.fixture
def rectangles():
    """A function (row blocks, column blocks, lambda) -> Rectangles over one small problem."""

    def make(rows=3, columns=2, lam=0.05, n=60, m=12):
        X, y = unit_problem(n, m)
        return Rectangles(X, y, *hybrid(n, m, f"{rows}x{columns}", np.random.default_rng(1)), lam)

    return make


@pytest.fixture
def run():
    """Run an algorithm on fresh clients; yields (round, w, clients)."""

    def go(function, data, rounds, fraction=1.0, params=None, **more):
        clients = HybridClients(data, fraction=fraction, **more)
        for t, w in zip(range(1, rounds + 1), function(clients, **(params or {})), strict=False):
            yield t, w, clients

    return go
