"""A small federation of every kind, for contracts that hold whatever the kind.

`small(kind, m, case)` builds a fresh one of the class `kind`. The clients are `different`, or `copies` of one client,
or they have a `shared` minimiser, which is then the start. Those of a kind always hold the same numbers.
"""

import importlib
import pkgutil
from typing import Literal, get_args, get_origin

import numpy as np

from fedrepro import algorithms, federation
from fedrepro.datasets.partition import hybrid
from fedrepro.experiments.reference import solve
from fedrepro.federation.agents import Agents
from fedrepro.federation.clients import Clients
from fedrepro.federation.cohorts import SampledClients, Sampling
from fedrepro.federation.complete import CompleteClients
from fedrepro.federation.horizontal import HorizontalClients
from fedrepro.federation.hybrid import HybridClients
from fedrepro.federation.primal_dual import PrimalDualClients
from fedrepro.federation.protocol import Federation
from fedrepro.federation.rectangles import Rectangles
from fedrepro.federation.streamed import StreamedClients
from fedrepro.federation.wide import WideClients
from fedrepro.maths import hinge
from fedrepro.maths.columns import ColumnQuadratics
from fedrepro.maths.costs import LinearModels, Quadratics
from fedrepro.maths.domains import alternatives, fits
from fedrepro.maths.models.linear import LinearModel
from fedrepro.maths.optimum import minimiser
from fedrepro.maths.pooled import PooledQuadratic
from fedrepro.maths.proxes import L1, OnBlocks, Zero
from fedrepro.maths.streamed import StreamedQuadratics, StreamedStack
from fedrepro.maths.wide import WideLinearModels
from hinge_problems import unit_problem

D = 4  # of every parameter vector that is not the intercept
SIZES = (5, 3, 2)  # of the agents, in proportion
EXAMPLES, BATCH, COHORT = 6, 2, 4  # of a sampled client; clients a round
ROWS, COLUMNS, RIDGE = 24, 6, 0.05  # of the matrix that is cut into rectangles


def bowls(m: int, case: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """f_j(x) = ½xᵀG_j x − c_jᵀx with eigenvalues from 1 to 6, and the start."""
    one = np.random.default_rng(7)
    x0 = one.standard_normal(D)
    draws = [np.random.default_rng([1, 0 if case == "copies" else j]) for j in range(m)]
    Q = [np.linalg.qr(rng.standard_normal((D, D)))[0] for rng in draws]
    G = np.stack([(q * np.linspace(1.0, 6.0, D)) @ q.T for q in Q])
    if case == "shared":
        return G, G @ x0, x0
    return G, np.stack([rng.standard_normal(D) for rng in draws]), np.zeros(D)


def constants(costs, start, m: int, case: str) -> dict:
    """What stepsizes refer to. D2 scales the regularisation of FedSplit's Theorem 2, which also hangs on m: copies
    are given the same one; a start at the minimiser, any."""
    found = solve(costs, start).constants
    return found | {
        "mu": 0.5,
        "D2": 1.0 if case == "shared" else found["D2"] / (m if case == "copies" else 1),
    }


def clients(m=3, case="different"):
    G, c, start = bowls(m, case)
    costs = Quadratics(G, c, np.zeros(m))
    return Clients(costs, start, constants(costs, start, m, case))


def streamed(m=3, case="different"):
    """The bowls as rows of data, ½‖A_j x − b_j‖², of two clients at a time."""
    G, c, start = bowls(m, case)
    A = np.linalg.cholesky(G).transpose(0, 2, 1)
    b = np.linalg.solve(A.transpose(0, 2, 1), c[..., None])[..., 0]
    costs = StreamedQuadratics(StreamedStack(A, np.full(m, D), D, together=2), b, np.ones(m))
    return StreamedClients(costs, start, constants(Quadratics(G, c, np.zeros(m)), start, m, case))


def primal_dual(m=3, case="different"):
    G, c, start = bowls(m, case)
    costs = ColumnQuadratics(G, c, np.zeros(m))
    low, high = costs.bounds()
    more = {"low": low, "high": high, "order": np.arange(m)}
    return PrimalDualClients(costs, start, constants(costs, start, m, case) | more)


def agents(m=3, case="different"):
    G, c, start = bowls(m, case)
    sizes = np.ones(m) if case == "copies" else np.resize(SIZES, m)
    p = sizes / sizes.sum()
    pooled = PooledQuadratic((p @ G.reshape(m, -1)).reshape(1, D, D), (p @ c)[None], np.zeros(1))
    return Agents(Quadratics(G, c, np.zeros(m)), pooled, p, start, constants(pooled, start, m, case))


def complete(m=3, case="different"):
    G, c, start = bowls(m, case)
    costs = Quadratics(G, c, np.zeros(m))
    pooled = PooledQuadratic(G.mean(axis=0)[None], c.mean(axis=0)[None], np.zeros(1))
    low, high = costs.bounds()
    more = {"low": low, "high": high, "order": np.arange(m)}
    return CompleteClients(costs, pooled, start, constants(costs, start, m, case) | more)


class Rows:
    """The design of wide clients, kept as it is: 3 rows each, 9 columns."""

    n, columns = 3, 9

    def __init__(self, m: int, same: bool):
        draws = [np.random.default_rng([2, 0 if same else j]) for j in range(m)]
        self.A = np.stack([rng.standard_normal((self.n, self.columns)) for rng in draws])
        labels = [np.where(rng.random((self.n, 2)) < 0.5, 1.0, -1.0) for rng in draws]
        self.targets, self.mask = np.concatenate(labels), np.ones((m, self.n), bool)

    def forward(self, X):
        return self.A.reshape(-1, self.columns) @ X

    def backward(self, B):
        return self.A.reshape(-1, self.columns).T @ B

    def gram(self):
        return self.A @ self.A.transpose(0, 2, 1)


def wide(m=3, case="different"):
    """Two one-vs-all columns; clients that share a minimiser are copies here."""
    design = Rows(m, case != "different")
    costs = WideLinearModels("logistic", design, design.targets, 0.3)
    known = {
        "l*": costs.ridge,
        "L*": float(costs.smoothness().max()),
        "D2": 1.0 / (m if case == "copies" else 1),
    }
    start = np.zeros(costs.shape)
    if case == "shared":
        targets = design.targets.reshape(m, design.n, -1)
        start = minimiser(LinearModels("logistic", list(design.A), list(targets), ridge=costs.ridge))
    return WideClients(costs, start, known)


def sampled(m=12, case="different"):
    """Squares under ℓ1. Copies look at all of their examples in one batch, and all take part: the order in which
    examples are drawn is then no difference. A minimiser is shared where there is no noise and no ψ."""
    draws = [np.random.default_rng([3, 0 if case == "copies" else j]) for j in range(m)]
    truth = np.append(np.random.default_rng(7).standard_normal(D), 0.0)
    X = np.concatenate([rng.standard_normal((EXAMPLES, D)) + 0.5 for rng in draws])
    noise = np.concatenate([rng.standard_normal(EXAMPLES) for rng in draws])
    y = X @ truth[:-1] + (0.0 if case == "shared" else 0.5) * noise
    psi = Zero() if case == "shared" else OnBlocks(L1(0.3), (slice(0, D),))
    whole = case == "copies" or m == 1
    offsets = np.arange(0, len(y) + 1, EXAMPLES)
    sampling = Sampling(offsets, m if whole else COHORT, EXAMPLES if whole else BATCH, 1, seed=0)
    return SampledClients(
        LinearModel("squared", X, y), psi, sampling, truth if case == "shared" else 0.5 * truth
    )


def rectangles(m=4, case="different"):
    """A support vector machine over 2 x 2 rectangles, or one. At a `shared` minimiser the duals are optimal too.
    Copies of a rectangle would be another problem: λN grows with them."""
    return supported(HybridClients, {4: "2x2", 1: "1x1"}[m], case)


def whole_samples(m=4, case="different"):
    """The same over `m` clients who hold all features of their samples."""
    return supported(HorizontalClients, f"{m}x1", case)


def supported(kind, grid, case):
    X, y = unit_problem(ROWS, COLUMNS)
    data = Rectangles(X, y, *hybrid(ROWS, COLUMNS, grid, np.random.default_rng(1)), RIDGE)
    made = kind(data)
    if case == "shared":
        best = hinge.solve(X, y, RIDGE, tolerance=1e-14)
        made.server.duals = [best["alpha"][group] for group in data.groups]
        everyone = list(range(made.m))
        made.send_duals(everyone)
        made.primal_aggregation(everyone, everyone)
        made.start = made.server.w.copy()
    return made


KINDS = {
    Clients: clients,
    WideClients: wide,
    Agents: agents,
    PrimalDualClients: primal_dual,
    SampledClients: sampled,
    HybridClients: rectangles,
    HorizontalClients: whole_samples,
    CompleteClients: complete,
    StreamedClients: streamed,
}
CASES = {kind: {"different", "shared", "copies"} for kind in KINDS}
CASES[HybridClients] = CASES[HorizontalClients] = {"different", "shared"}


def small(kind: type[Federation], m: int | None = None, case: str = "different") -> Federation:
    return KINDS[kind](**{} if m is None else {"m": m}, case=case)


def all_kinds() -> set[type[Federation]]:
    """Every class of clients in the room `federation`."""
    for info in pkgutil.iter_modules(federation.__path__):
        importlib.import_module(f"{federation.__name__}.{info.name}")
    found, todo = set(), [Federation]
    while todo:
        more = set(todo.pop().__subclasses__()) - found
        found |= more
        todo += more
    return {kind for kind in found if kind.__module__.startswith(federation.__name__)}


def suited(name: str) -> list[type[Federation]]:
    """The kinds of clients that offer all that an algorithm needs, its own paper's first."""
    return [kind for kind in KINDS if algorithms.get(name).needs <= kind.offers()]


# Hyper-parameters that have no default. Any other takes a value of the set it declares, so that a new file is run
# without being listed.
VALUES = {"epsilon": 0.5, "newton": "all", "inner": 5, "local_steps": 4, "a": 0.3, "b": 1.0, "mu": 0.2}
ANY = 0.02


def params(name: str) -> dict:
    wanted = algorithms.parameters(algorithms.get(name)).items()
    return {n: VALUES.get(n, some(p.annotation)) for n, p in wanted if p.default is p.empty}


def some(declared):
    """A value of a declared set (maths/domains.py)."""
    words = (c for part in alternatives(declared) if get_origin(part) is Literal for c in get_args(part))
    return next(value for value in (ANY, 2, True, *words) if fits(value, declared, {}))


def points(name: str, clients: Federation, rounds: int = 5, **more) -> list[np.ndarray]:
    """The server's points of the first rounds."""
    generator = algorithms.get(name)(clients, **params(name) | more)
    return [np.array(next(generator)) for _ in range(rounds)]
