"""The problems of Dal Fabbro et al. (section 6.1): regularised least squares and logistic regression."""

from functools import cache

import numpy as np
import scipy.sparse

from fedrepro import datasets, partition, preprocess, reference
from fedrepro.agents import Agents, PooledLogistic, PooledQuadratic
from fedrepro.costs import LinearModels, Quadratics
from fedrepro.problems import SMOOTH, Problem, problem

OFFERS = SMOOTH | {"pooled"}


class Federation(Problem):
    """f = Σ_i p_i f_i, p_i = N_i/N; the gap f(θ) − f(θ*) and the error ‖θ − θ*‖."""

    def __init__(self, costs, pooled, sizes, mu: float, seed: int, **about):
        super().__init__(costs, np.zeros(costs.shape), **about)
        self.pooled, self.weights, self.mu, self.seed = pooled, sizes / sizes.sum(), mu, seed

    def clients(self, reference):
        return Agents(self.costs, self.pooled, self.weights, self.start, reference, self.seed)

    def measure(self, name, reference):
        if name == "gap":
            return self.pooled.gap_from(reference["x"])
        if name == "distance":
            return lambda x: float(np.linalg.norm(x - reference["x"]))
        return super().measure(name, reference)

    def reference(self):
        """The optimum of f, its constants, and `spectrum`: λ̄_j = Σ_i p_i λ_j⁽ⁱ⁾(θ*), largest first, of which
        the bounds of Theorem 3 and eq. (36) are made."""
        ref = reference.solve(self.pooled, self.start)
        hessians = self.costs.hessian(np.broadcast_to(ref["x"], (self.costs.m, *self.costs.shape)))
        ref["spectrum"] = self.weights @ np.linalg.eigvalsh(hessians)[:, ::-1]
        ref["mu"] = float(self.mu)
        return ref


@problem(offers=OFFERS)
def least_squares(setting, seed, data):
    """Features and response scaled to [0,1] over the rows taken; f_i = (1/2N_i)‖X_iθ − y_i‖² + (μ/2)‖θ‖²."""
    dataset, clients = datasets.load(data.dataset, data.root), partition.read(data.partition, seed)
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


def quadratic_federation(matrices, responses, mu: float, seed: int, **about) -> Federation:
    """Least squares through Gram matrices, one agent at a time: agents may be of very unequal sizes."""
    sizes = np.array([len(a) for a in matrices])
    n = matrices[0].shape[1]
    G = np.stack([a.T @ a / len(a) + mu * np.eye(n) for a in matrices])
    c = np.stack([a.T @ b / len(a) for a, b in zip(matrices, responses, strict=True)])
    e = np.array([0.5 * np.mean(b * b) for b in responses])
    p = sizes / sizes.sum()
    pooled = PooledQuadratic(*(np.tensordot(p, part, axes=1)[None] for part in (G, c, e)))
    return Federation(Quadratics(G, c, e), pooled, sizes, mu, seed, **about)


@problem(offers=OFFERS)
def logistic(setting, seed, data):
    """One-vs-all logistic regression on principal components (images), or on a dataset's own features (w8a),
    of which reduced scales take the commonest `columns`."""
    dataset, clients = datasets.load(data.dataset, data.root), partition.read(data.partition, seed)
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


def logistic_federation(X, b, sizes, mu: float, seed: int, **about) -> Federation:
    """f_i = (1/N_i)Σ log(1 + exp(−y xᵀθ)) + (μ/2)‖θ‖² over consecutive runs of rows of the given sizes."""
    cuts = np.concatenate([[0], np.cumsum(sizes)])
    runs = [slice(*cuts[i : i + 2]) for i in range(len(sizes))]
    weights = [np.full(s, 1.0 / s) for s in sizes]
    costs = LinearModels("logistic", [X[r] for r in runs], [b[r] for r in runs], weights, mu)
    pooled = PooledLogistic(X, b, np.full(len(b), 1.0 / len(b)), mu)
    return Federation(costs, pooled, np.asarray(sizes), mu, seed, **about)


def about(dataset) -> dict:
    return {"origin": dataset.origin, "title": dataset.title, "checksum": dataset.checksum}
