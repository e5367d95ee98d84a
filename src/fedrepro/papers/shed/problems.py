"""The problems of Dal Fabbro et al. (section 6.1): regularised least squares and logistic regression."""

from functools import cache
from typing import NotRequired, TypedDict

import numpy as np
import scipy.sparse

from fedrepro import datasets
from fedrepro.datasets import partition, preprocess
from fedrepro.experiments.problem import Problem, problem
from fedrepro.experiments.reference import solve
from fedrepro.federation.agents import Agents
from fedrepro.maths.costs import LinearModels, Quadratics
from fedrepro.maths.domains import Count, Positive
from fedrepro.maths.losses import sigmoid
from fedrepro.maths.pooled import PooledLogistic, PooledQuadratic
from fedrepro.maths.seeds import stream
from fedrepro.papers.shed.theory import MEASURES, Iteration, WatchedAgents, lipschitz, smoothness

ALPHA = 0.1  # of the line search, unless a block says otherwise


class PooledProblem(Problem):
    """f = Σ_i p_i f_i, p_i = N_i/N; the gap f(θ) − f(θ*) and the error ‖θ − θ*‖."""

    federation = Agents
    measurable = ("gap", "distance")

    def __init__(self, costs, pooled, sizes, mu: float, seed: int, **about):
        super().__init__(costs, np.zeros(costs.shape), **about)
        self.pooled, self.weights, self.mu, self.seed = pooled, sizes / sizes.sum(), mu, seed

    def clients(self, reference):
        return Agents(self.costs, self.pooled, self.weights, self.start, reference.constants, self.seed)

    def measure(self, name, reference):
        if name == "gap":
            gap = self.pooled.gap_from(reference.optimum)
            return lambda x, clients: gap(x)
        return super().measure(name, reference)

    def reference(self):
        """The optimum of f, its constants, and `spectrum`: λ̄_j = Σ_i p_i λ_j⁽ⁱ⁾(θ*), largest first, of which
        the bounds of Theorem 3 and eq. (36) are made."""
        ref = solve(self.pooled, self.start)
        hessians = self.costs.hessian(np.broadcast_to(ref.optimum, (self.costs.m, *self.costs.shape)))
        ref.facts["spectrum"] = self.weights @ np.linalg.eigvalsh(hessians)[:, ::-1]
        ref.constants["mu"] = float(self.mu)
        return ref


class WatchedProblem(PooledProblem):
    """The same, where also the quantities of Theorems 9 and 10 are measured. What is known of an iteration is known at
    its end: round 0 has none."""

    federation = WatchedAgents
    measurable = (*PooledProblem.measurable, *MEASURES)

    def clients(self, reference):
        return WatchedAgents(
            self.costs, self.pooled, self.weights, self.start, reference.constants, self.seed
        )

    def measure(self, name, reference):
        if name not in MEASURES:
            return super().measure(name, reference)

        def meter(x, agents):
            if agents.point is None:
                return float("nan")
            return MEASURES[name](Iteration(agents, x, reference.optimum, reference.constants, ALPHA))

        return meter

    def reference(self):
        ref = super().reference()
        X = self.pooled.data.A[0]
        ref.constants |= {"lipschitz": lipschitz(X), "smoothness": smoothness(X, self.mu)}
        return ref


class SmallLogistic(TypedDict):
    n: Count
    agents: Count
    rows: Count
    mu: Positive
    skew: bool


@problem()
def small_logistic(setting: SmallLogistic, seed, data=None) -> WatchedProblem:
    """Logistic regression with agents alike or, where they are skewed, each around a mean of its own."""
    rng = stream(seed, "shed", "small logistic")
    n, m, rows = setting["n"], setting["agents"], setting["rows"]
    means = np.repeat(rng.standard_normal((m, n)), rows, axis=0) if setting["skew"] else 0.0
    X = (rng.standard_normal((m * rows, n)) + means) * np.geomspace(1.0, 0.3, n)
    likely = sigmoid(X @ rng.standard_normal(n))
    b = np.where(rng.random(m * rows) < likely, 1.0, -1.0)
    return logistic_federation(X, b, np.full(m, rows), setting["mu"], seed, kind=WatchedProblem)


class Regularised(TypedDict):
    mu: Positive
    intercept: NotRequired[bool]


@problem()
def least_squares(setting: Regularised, seed, data) -> PooledProblem:
    """Features and response scaled to [0,1] over the rows taken; f_i = (1/2N_i)‖X_iθ − y_i‖² + (μ/2)‖θ‖²."""
    dataset, clients = datasets.load(data.dataset, data.root), partition.read(data.partition, seed, setting)
    rows = np.concatenate(clients.rows)
    X = preprocess.unit_interval(dataset.X[rows])
    y = preprocess.unit_interval(dataset.y[rows])
    if setting.get("intercept", False):
        X = preprocess.with_ones(X)
    sizes = np.array([len(r) for r in clients.rows])
    ends = np.cumsum(sizes)
    return quadratic_federation(
        [X[e - s : e] for s, e in zip(sizes, ends, strict=True)],
        [y[e - s : e] for s, e in zip(sizes, ends, strict=True)],
        setting["mu"],
        seed,
        **about(dataset),
    )


def quadratic_federation(matrices, responses, mu: float, seed: int, **about) -> PooledProblem:
    """Least squares through Gram matrices, one agent at a time: agents may be of very unequal sizes."""
    sizes = np.array([len(a) for a in matrices])
    n = matrices[0].shape[1]
    G = np.stack([a.T @ a / len(a) + mu * np.eye(n) for a in matrices])
    c = np.stack([a.T @ b / len(a) for a, b in zip(matrices, responses, strict=True)])
    e = np.array([0.5 * np.mean(b * b) for b in responses])
    p = sizes / sizes.sum()
    pooled = PooledQuadratic(*(np.tensordot(p, part, axes=1)[None] for part in (G, c, e)))
    return PooledProblem(Quadratics(G, c, e), pooled, sizes, mu, seed, **about)


class OneVsAll(Regularised):
    target: NotRequired[int]
    sparse: NotRequired[bool]


class Components(OneVsAll):
    components: Count
    centre: bool


class Columns(OneVsAll):
    columns: Count


@problem()
def logistic(setting: Components | Columns, seed, data) -> PooledProblem:
    """One-vs-all logistic regression on principal components (images), or on a dataset's own features (w8a),
    of which reduced scales take the commonest `columns`."""
    dataset, clients = datasets.load(data.dataset, data.root), partition.read(data.partition, seed, setting)
    rows = np.concatenate(clients.rows)
    if "components" in setting:
        Z = components(data, seed, bool(setting["centre"]))[:, : setting["components"]]
    else:
        Z = np.asarray(dataset.X[rows], float)
        Z = Z[:, np.sort(np.argsort(-Z.sum(axis=0), kind="stable")[: setting["columns"]])]
    if setting.get("intercept", False):
        Z = preprocess.with_ones(Z)
    if setting.get("sparse", False):
        Z = scipy.sparse.csr_array(Z)
    b = preprocess.signs(dataset.y[rows], setting.get("target", 1))
    sizes = np.array([len(r) for r in clients.rows])
    return logistic_federation(Z, b, sizes, setting["mu"], seed, **about(dataset))


@cache
def components(data, seed: int, centre: bool) -> np.ndarray:
    """The principal components of the rows in use; the settings of a block share them."""
    dataset, clients = datasets.load(data.dataset, data.root), partition.read(data.partition, seed)
    pca = preprocess.load_pca(dataset, centre, data.root)
    return pca.apply(preprocess.pixels(dataset.X[np.concatenate(clients.rows)]))


def logistic_federation(X, b, sizes, mu: float, seed: int, kind=PooledProblem, **about) -> PooledProblem:
    """f_i = (1/N_i)Σ log(1 + exp(−y xᵀθ)) + (μ/2)‖θ‖² over consecutive runs of rows of the given sizes."""
    cuts = np.concatenate([[0], np.cumsum(sizes)])
    runs = [slice(*cuts[i : i + 2]) for i in range(len(sizes))]
    weights = [np.full(s, 1.0 / s) for s in sizes]
    costs = LinearModels("logistic", [X[r] for r in runs], [b[r] for r in runs], weights, mu)
    pooled = PooledLogistic(X, b, np.full(len(b), 1.0 / len(b)), mu)
    return kind(costs, pooled, np.asarray(sizes), mu, seed, **about)


def about(dataset) -> dict:
    return {"origin": dataset.origin, "title": dataset.title, "checksum": dataset.checksum}
