"""Figure 2(b) of Pathak & Wainwright 2020: one-vs-all classification of handwritten characters, a writer a client."""

from typing import TypedDict

import numpy as np

from fedrepro import datasets
from fedrepro.datasets import partition
from fedrepro.experiments.problem import Problem, problem
from fedrepro.experiments.reference import Reference
from fedrepro.federation.wide import WideClients
from fedrepro.maths.domains import Count, Fraction, NonNegative, Positive
from fedrepro.maths.seeds import stream
from fedrepro.maths.wide import WideLinearModels

CHUNK = 4096  # rows whose features are made at once


class RandomFeatures:
    """a = (1, u, (Ru)₊, (Gu)₊) for the pixels u, Appendix B.2.2: kept where they fit in `memory_gb`, made anew
    for every product otherwise."""

    def __init__(self, pixels: np.ndarray, sizes: list[int], R: np.ndarray, G: np.ndarray, memory_gb: float):
        self.pixels, self.R, self.G = pixels, R, G
        self.columns = 1 + pixels.shape[1] + len(R) + len(G)
        self.mask = np.arange(max(sizes)) < np.array(sizes)[:, None]
        self.ends = np.cumsum([0, *sizes])
        self.kept = None
        if 8e-9 * len(pixels) * self.columns <= memory_gb:
            whole = np.empty((len(pixels), self.columns))
            for low in range(0, len(pixels), CHUNK):
                whole[low : low + CHUNK] = self.features(slice(low, low + CHUNK))
            self.kept = whole

    def features(self, rows: slice) -> np.ndarray:
        if self.kept is not None:
            return self.kept[rows]
        u = np.asarray(self.pixels[rows], float) / 255.0
        ones = np.ones((len(u), 1))
        return np.hstack([ones, u, np.maximum(u @ self.R.T, 0.0), np.maximum(u @ self.G.T, 0.0)])

    def forward(self, X: np.ndarray) -> np.ndarray:
        if self.kept is not None:
            return self.kept @ X
        steps = range(0, len(self.pixels), CHUNK)
        return np.concatenate([self.features(slice(low, low + CHUNK)) @ X for low in steps])

    def backward(self, B: np.ndarray) -> np.ndarray:
        if self.kept is not None:
            return self.kept.T @ B
        return sum(
            self.features(slice(low, low + CHUNK)).T @ B[low : low + CHUNK]
            for low in range(0, len(self.pixels), CHUNK)
        )

    def gram(self) -> np.ndarray:
        K = np.zeros((len(self.mask), self.mask.shape[1], self.mask.shape[1]))
        for j, (low, high) in enumerate(zip(self.ends, self.ends[1:], strict=False)):
            A = self.features(slice(low, high))
            K[j, : high - low, : high - low] = A @ A.T
        return K


class CharacterProblem(Problem):
    federation = WideClients
    measurable = ("value", "accuracy")

    def measure(self, name, reference):
        if name == "value":
            return lambda x, clients: self.costs.value_at(x)
        return super().measure(name, reference)

    def reference(self):
        """Only the constants: figure 2(b) plots the cost itself, and ℓ* is the regularisation."""
        return Reference(constants={"l*": self.costs.ridge, "L*": float(self.costs.smoothness().max())})


class OneVsAll(TypedDict):
    rademacher: Count
    gaussian: Count
    reg: Positive
    heldout: Fraction
    memory_gb: NonNegative


@problem()
def femnist_one_vs_all(setting: OneVsAll, seed, data) -> CharacterProblem:
    """Problem (21), 20 % of each client's images held out; R is Rademacher, G Gaussian."""
    source = datasets.load(data.dataset, data.root)
    rows = partition.read(data.partition, seed).rows
    rng = stream(seed, "heldout")
    train, held = [], []
    for client in rows:
        order = rng.permutation(np.sort(client))
        cut = max(1, round(setting["heldout"] * len(order)))
        held.append(order[:cut])
        train.append(order[cut:])
    d = source.X.shape[1]
    rng = stream(seed, "features")
    R = rng.choice([-1.0, 1.0], (setting["rademacher"], d))
    G = rng.standard_normal((setting["gaussian"], d))
    labels, y = np.unique(np.concatenate([source.y[r] for r in rows]), return_inverse=True)
    position = dict(zip(np.concatenate(rows).tolist(), y.tolist(), strict=True))

    def part(parts):
        flat = np.concatenate(parts)
        code = np.array([position[i] for i in flat.tolist()])
        design = RandomFeatures(source.X[flat], [len(p) for p in parts], R, G, setting["memory_gb"])
        return design, code

    design, code = part(train)
    targets = np.where(code[:, None] == np.arange(len(labels)), 1.0, -1.0)  # b = 2e_k − 1
    costs = WideLinearModels("logistic", design, targets, setting["reg"])
    heldout, truth = part(held)

    def accuracy(x):
        return float(np.mean(heldout.forward(x).argmax(axis=1) == truth))

    return CharacterProblem(
        costs, np.zeros(costs.shape), source.origin, source.title, source.checksum, {"accuracy": accuracy}
    )
