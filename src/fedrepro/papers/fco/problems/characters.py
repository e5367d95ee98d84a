"""Constrained classification of characters by writer. Yuan, Zaheer & Reddi 2021, Appendix B.5."""

from typing import Literal, TypedDict

import numpy as np

from fedrepro import datasets
from fedrepro.datasets import partition
from fedrepro.datasets.preprocess import pixels
from fedrepro.experiments.problem import problem
from fedrepro.experiments.reference import Reference
from fedrepro.maths.domains import Count, Positive, Share
from fedrepro.maths.models.images import Dense
from fedrepro.maths.proxes import L1Ball, L2Ball, OnBlocks
from fedrepro.maths.seeds import stream
from fedrepro.papers.fco.problems.recovery import CompositeProblem, beginning

BALLS = {"l1": (L1Ball, 1, 0), "l2": (L2Ball, 2, 1)}  # ψ, the norm's order, which of the two radii


class Characters(CompositeProblem):
    """A writer is a client; every kernel lies in a ball. `fill` is the fullest kernel's norm over the radius."""

    measurable = ("loss", "train_accuracy", "test_accuracy", "fill")

    def __init__(self, dataset, clients, setting, seed):
        rng = stream(seed, "data", "share")
        share = setting["relative_share" if dataset.origin == "relative" else "share"]
        clients = [rng.permutation(c)[: max(1, round(share * len(c)))] for c in clients]
        rows = np.concatenate(clients)
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in clients])])
        X, test_X = (pixels(dataset.X[i], setting["precision"]) for i in (rows, dataset.test))
        y, test_y = (dataset.y[i].astype(np.int64) for i in (rows, dataset.test))
        sizes = (X.shape[1], *setting["hidden"], int(max(y.max(), test_y.max())) + 1)
        model = Dense(X, y, sizes)
        super().__init__(
            model, offsets, setting, seed, self.begin(model, setting, seed),
            origin=dataset.origin, title=dataset.title, checksum=dataset.checksum,
        )  # fmt: skip
        self.last = None
        _, order, which = BALLS[setting["ball"]]
        radius = setting["radius"][which]
        self.measures = {
            "loss": lambda p, ref: self.training(p)[0],
            "train_accuracy": lambda p, ref: self.training(p)[1],
            "test_accuracy": lambda p, ref: model.scores(p, test_X, test_y)[1],
            "fill": lambda p, ref: max(np.linalg.norm(p[k], order) for k in model.kernels) / radius,
        }

    def training(self, p):
        """Loss and accuracy over the training examples, which one pass gives; the last point's are kept."""
        if self.last is None or not np.array_equal(self.last[0], p):
            self.last = p.copy(), self.costs.scores(p, self.costs.X, self.costs.y)
        return self.last[1]

    @staticmethod
    def begin(model, setting, seed):
        """Kernels as the setting says, biases zero."""
        p = np.zeros(model.size)
        weights = beginning(setting["start"], seed, *model.shapes)
        for kernel in model.kernels:
            size = kernel.stop - kernel.start
            p[kernel], weights = weights[:size], weights[size:]
        return p

    def psi(self, constants):
        kind, _, which = BALLS[self.setting["ball"]]
        return OnBlocks(kind(float(self.setting["radius"][which])), self.costs.kernels)

    def reference(self):
        return Reference(facts={"clients": len(self.sampling.offsets) - 1, "examples": len(self.costs.y)})


class Writers(TypedDict):
    cohort: Count
    batch: Count
    epochs: Count
    share: Share  # of each writer's examples
    relative_share: Share  # the same, on a relative of the paper's data
    precision: Literal["float32", "float64"]
    hidden: list[Count]
    ball: Literal["l1", "l2"]
    radius: tuple[Positive, Positive]
    start: Literal["glorot", "zero"]


@problem()
def writers(setting: Writers, seed, data) -> Characters:
    """Federated EMNIST, or its relative, MNIST by writer."""
    dataset = datasets.load(data.dataset, data.root)
    return Characters(dataset, partition.read(data.partition, seed).rows, setting, seed)
