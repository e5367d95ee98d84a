"""Constrained classification of characters by writer. Yuan, Zaheer & Reddi 2021, Appendix B.5."""

import numpy as np

from fedrepro import datasets, partition
from fedrepro.models.images import Dense
from fedrepro.preprocess import pixels
from fedrepro.problems.fco import CompositeProblem
from fedrepro.proxes import L1Ball, L2Ball, OnBlocks
from fedrepro.seeds import stream

BALLS = {"l1": (L1Ball, 1, 0), "l2": (L2Ball, 2, 1)}  # ψ, the norm's order, which of the two radii


class Characters(CompositeProblem):
    """A writer is a client; every kernel lies in a ball. `fill` is the fullest kernel's norm over the radius."""

    def __init__(self, dataset, clients, setting, seed):
        rng = stream(seed, "data", "share")
        clients = [rng.permutation(c)[: max(1, round(setting["share"] * len(c)))] for c in clients]
        rows = np.concatenate(clients)
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in clients])])
        X, test_X = (pixels(dataset.X[i], setting["precision"]) for i in (rows, dataset.test))
        y, test_y = (dataset.y[i].astype(np.int64) for i in (rows, dataset.test))
        sizes = (X.shape[1], *setting["hidden"], int(max(y.max(), test_y.max())) + 1)
        model = Dense(X, y, sizes)
        super().__init__(
            model, offsets, setting, seed, self.glorot(model, seed),
            origin=dataset.origin, title=dataset.title, checksum=dataset.checksum,
        )  # fmt: skip
        _, order, which = BALLS[setting["ball"]]
        radius = setting["radius"][which]
        self.measures = {
            "loss": lambda p, ref: model.value(p, X, y),
            "train_accuracy": lambda p, ref: model.accuracy(p, X, y),
            "test_accuracy": lambda p, ref: model.accuracy(p, test_X, test_y),
            "fill": lambda p, ref: max(np.linalg.norm(p[k], order) for k in model.kernels) / radius,
        }

    @staticmethod
    def glorot(model, seed):
        """Kernels uniform within √(6/(inputs + outputs)), biases zero, as in the public code."""
        p, rng = np.zeros(model.size), stream(seed, "start")
        for kernel, shape in zip(model.kernels, model.shapes, strict=True):
            p[kernel] = rng.uniform(-1.0, 1.0, kernel.stop - kernel.start) * np.sqrt(6.0 / sum(shape))
        return p

    def psi(self, reference):
        kind, _, which = BALLS[self.setting["ball"]]
        return OnBlocks(kind(float(self.setting["radius"][which])), self.costs.kernels)

    def reference(self):
        return {"clients": len(self.sampling.offsets) - 1, "examples": len(self.costs.y)}


def writers(setting, seed, data):
    """Federated EMNIST, or its relative, MNIST by writer."""
    dataset = datasets.load(data.dataset, data.root)
    return Characters(dataset, partition.read(data.partition, seed).rows, setting, seed)
