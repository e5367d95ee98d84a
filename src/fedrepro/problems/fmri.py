"""Sparse logistic regression on brain scans. Yuan, Zaheer & Reddi 2021, section 5.3 and Appendix B.4."""

import numpy as np

from fedrepro import datasets, partition
from fedrepro.datasets import haxby
from fedrepro.models.linear import LinearModel
from fedrepro.problems.fco import CompositeProblem, glorot
from fedrepro.proxes import L1, OnBlocks
from fedrepro.seeds import stream

ZERO_BELOW = 1e-4  # B.4.1


class Scans(CompositeProblem):
    """A session is a client; the loss and the accuracy are of the held-out scans."""

    keeps_point = True

    def __init__(self, dataset, clients, setting, seed):
        voxels = np.linspace(0, dataset.X.shape[1] - 1, min(setting["voxels"], dataset.X.shape[1])).astype(
            int
        )
        rows = np.concatenate(clients)
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in clients])])
        model = LinearModel("logistic", take(dataset.X, rows, voxels), dataset.y[rows])
        super().__init__(
            model, offsets, setting, seed, np.append(glorot(seed, len(voxels)), 0.0),
            origin=dataset.origin, title=dataset.title, checksum=dataset.checksum,
        )  # fmt: skip
        X, y = take(dataset.X, dataset.test, voxels), dataset.y[dataset.test].astype(float)
        self.geometry = {
            "voxel": dataset.extra["voxel"][voxels],
            "grid": dataset.extra["grid"],
            "affine": dataset.extra["affine"],
        }
        psi = self.psi({})
        self.measures = {
            "loss": lambda p, ref: model.value(p, X, y) + psi.value(p),
            "accuracy": lambda p, ref: np.mean((model.predict(p, X) > 0) == (y > 0.5)),
            "density": lambda p, ref: np.mean(np.abs(p[:-1]) >= ZERO_BELOW),
        }

    def psi(self, reference):
        return OnBlocks(L1(self.setting["lambda"]), (slice(0, self.costs.size - 1),))

    def reference(self):
        """Nothing is solved beforehand: the centralised baseline is an algorithm of its own here."""
        return {"clients": len(self.sampling.offsets) - 1, "voxels": self.costs.size - 1, **self.geometry}


def take(X, rows, columns) -> np.ndarray:
    """Some rows and columns of a memory-mapped array, in single precision, rows contiguous."""
    whole = len(columns) == X.shape[1]
    return np.ascontiguousarray(X[rows] if whole else X[rows][:, columns], np.float32)


def sessions(setting, seed, data):
    """Haxby et al. 2001: face or house, 18 scans a session; subject 6 (or the last sessions) held out."""
    dataset = datasets.load(data.dataset, data.root)
    return Scans(dataset, partition.read(data.partition, seed).rows, setting, seed)


def shape(setting, seed, data=None):
    """A stand-in with the paper's federation: six subjects, the last one held out, at any size."""
    made = haxby.standin(
        stream(0, "fmri", "shape"), tuple(setting["volume"]), setting["voxels"], tuple(setting["runs"])
    )
    dataset = datasets.Dataset(
        "haxby", "six-subject stand-in", made.X, made.y, made.groups, made.split, "standin",
        datasets.content_checksum(made), made.extra,
    )  # fmt: skip
    train = dataset.train
    clients = partition.by_group(dataset.groups[train], None, 1, stream(seed, "unused"))
    return Scans(dataset, [train[part] for part in clients], setting, seed)
