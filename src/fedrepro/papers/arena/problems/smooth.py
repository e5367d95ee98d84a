"""Strongly convex and smooth: logistic regression and least squares, (1/m)Σ f_j with a ridge."""

from typing import Literal

import numpy as np

from fedrepro.experiments.problem import problem
from fedrepro.experiments.reference import solve
from fedrepro.federation.complete import CompleteClients
from fedrepro.maths.costs import LinearModels, Quadratics
from fedrepro.maths.domains import Count, Positive
from fedrepro.maths.pooled import PooledLogistic, PooledQuadratic
from fedrepro.maths.seeds import stream
from fedrepro.papers.arena.contest import Contest, Horizon
from fedrepro.papers.arena.tasks import LOGISTIC, SQUARES, bowls, dealt, task

BOWLS = {"bowls-1e1": 1e1, "bowls-1e2": 1e2, "bowls-1e3": 1e3, "bowls-1e4": 1e4}  # name -> κ


class Smooth(Contest):
    """The gap f(x) − f(x*). By floating-point operations a Hessian is as many gradients as half of its columns; an exact
    proximal step is counted as a Hessian, without which it cannot be had."""

    federation = CompleteClients

    def __init__(self, costs, pooled, ridge: float, setting: dict, seed: int, **about):
        start = np.zeros(costs.shape)
        super().__init__(setting, seed, 2.0 * costs.m * start.size, costs=costs, start=start, **about)
        self.pooled, self.ridge = pooled, ridge

    def clients(self, reference):
        return CompleteClients(self.costs, self.pooled, self.start, reference.constants, self.seed)

    def error(self, reference):
        return self.pooled.gap_from(reference.optimum)

    def equivalents(self, ledger):
        large = 0.5 * len(self.start) * (ledger.hessians + ledger.proxes)
        return (ledger.gradients + ledger.products + large) / self.costs.m

    def reference(self):
        """The optimum, its constants, and what the tables of winners speak of."""
        ref = solve(self.costs, self.start)
        low, high = self.costs.bounds(ref.optimum)
        order = stream(self.seed, "arena", "newton clients").permutation(self.costs.m)
        ref.constants |= {"mu": self.ridge, "low": low, "high": high, "order": order}
        ref.facts |= {"start": self.error(ref)(self.start), "dimension": len(self.start)}
        ref.facts["kappa"] = ref.constants["L_F"] / ref.constants["l_F"]
        return ref


class Regularised(Horizon):
    data: Literal[*LOGISTIC, *SQUARES, *BOWLS]
    skew: bool
    regularisation: Positive
    clients: Count
    rows: Count
    columns: Count


@problem()
def smooth(setting: Regularised, seed, data=None) -> Smooth:
    """`regularisation` is the ridge over the smoothness of the loss alone; `rows` and `columns` are a client's."""
    name, m, n, d = (setting[k] for k in ("data", "clients", "rows", "columns"))
    if name in BOWLS:
        A, b = bowls(BOWLS[name], m, n, d, setting["skew"], seed)
        return least_squares(A, b, setting, seed)
    found = task(name, seed, m * n, d - 1)
    A, b = dealt(found, m, setting["skew"], seed)
    make = logistic if found.loss == "logistic" else least_squares
    return make(A, b, setting, seed, **found.about)


def largest(A: list, bend: float) -> float:
    return bend * float(np.linalg.eigvalsh(sum(a.T @ a / len(a) for a in A) / len(A))[-1])


def least_squares(A, b, setting, seed, **about) -> Smooth:
    ridge = setting["regularisation"] * largest(A, 1.0)
    costs = Quadratics.least_squares(A, b, [1.0 / len(y) for y in b], ridge)
    pooled = PooledQuadratic(*(part.mean(axis=0)[None] for part in (costs.G, costs.c, costs.e)))
    return Smooth(costs, pooled, ridge, setting, seed, **about)


def logistic(A, b, setting, seed, **about) -> Smooth:
    ridge = setting["regularisation"] * largest(A, 0.25)
    costs = LinearModels("logistic", A, b, [np.full(len(y), 1.0 / len(y)) for y in b], ridge)
    X, y = np.concatenate(A), np.concatenate(b)
    pooled = PooledLogistic(X, y, np.full(len(y), 1.0 / len(y)), ridge)
    return Smooth(costs, pooled, ridge, setting, seed, **about)
