"""Support vector machines over rectangles of samples and features, and over whole samples."""

from typing import Literal, TypedDict

import numpy as np

from fedrepro.datasets.partition import Grid, hybrid, read_grid
from fedrepro.datasets.preprocess import unit_rows
from fedrepro.experiments.problem import problem
from fedrepro.experiments.reference import Reference
from fedrepro.federation.horizontal import HorizontalClients
from fedrepro.federation.hybrid import HybridClients
from fedrepro.federation.rectangles import Rectangles
from fedrepro.maths import hinge
from fedrepro.maths.domains import Count, Positive
from fedrepro.maths.seeds import stream
from fedrepro.papers.arena.contest import Contest, Horizon
from fedrepro.papers.arena.tasks import task

CERTIFIED = 1e-10  # duality gap of the reference


class Hinge(Contest):
    """The gap P(w) − P*. A sample that a client visits is counted as its share of a gradient over all it holds."""

    federation = HybridClients

    def __init__(self, X, y, setting: dict, seed: int, **about):
        self.X, self.y = X, y
        *_, self.fraction = read_grid(setting["clients"])
        parts = hybrid(*X.shape, setting["clients"], stream(seed, "arena", "rectangles"))
        self.data = Rectangles(X, y, *parts, setting["lambda"])
        trip = 2.0 * sum(len(client.columns) for client in self.data.clients)
        super().__init__(setting, seed, trip, costs=None, start=np.zeros(X.shape[1]), **about)

    def clients(self, reference):
        return self.federation(
            self.data, fraction=self.fraction, seed=self.seed, constants=reference.constants
        )

    def error(self, reference):
        best, lam = reference.facts["primal"], self.data.lam
        return lambda w: hinge.primal(self.X, self.y, lam, w) - best

    def equivalents(self, ledger):
        return ledger.local_steps / sum(client.n for client in self.data.clients)

    def reference(self):
        best = hinge.solve(self.X, self.y, self.data.lam, tolerance=CERTIFIED)
        facts = {"primal": best["primal"], "dimension": self.X.shape[1], "kappa": 1.0 / self.data.lam}
        made = Reference(best["w"], {"samples": float(len(self.y))}, facts)
        made.facts["start"] = self.error(made)(self.start)
        return made


class Horizontal(Hinge):
    federation = HorizontalClients


class Machine(Horizon, TypedDict("Penalty", {"lambda": Positive})):
    data: Literal["mnist", "covtype", "news20"]
    clients: Grid
    rows: Count
    columns: Count


@problem()
def rectangles(setting: Machine, seed, data=None) -> Hinge:
    """λ/2‖w‖² + mean hinge over the rectangles of a grid of clients, as in Overman, Blum & Klabjan 2023."""
    return Hinge(*samples(setting), setting, seed, **about(setting))


@problem()
def whole_samples(setting: Machine, seed, data=None) -> Horizontal:
    """The same where a grid has one column of clients, as in Ma et al. 2015."""
    return Horizontal(*samples(setting), setting, seed, **about(setting))


def samples(setting: dict) -> tuple[np.ndarray, np.ndarray]:
    """The same rows for every seed, as unit vectors; seeds draw who holds what."""
    found = task(setting["data"], 0, setting["rows"], setting["columns"])
    return unit_rows(found.X), found.y


def about(setting: dict) -> dict:
    return task(setting["data"], 0, setting["rows"], setting["columns"]).about
