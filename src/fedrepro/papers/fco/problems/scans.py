"""Sparse logistic regression on brain scans. Yuan, Zaheer & Reddi 2021, section 5.3 and Appendix B.4."""

from typing import Annotated, Literal, TypedDict

import numpy as np

from fedrepro import datasets
from fedrepro.datasets import haxby, partition
from fedrepro.experiments.problem import problem
from fedrepro.experiments.reference import Reference
from fedrepro.maths.domains import Count, NotEmpty, Positive
from fedrepro.maths.models.linear import LinearModel
from fedrepro.maths.proxes import L1, OnBlocks
from fedrepro.maths.seeds import stream
from fedrepro.papers.fco.problems.recovery import CompositeProblem, beginning

ZERO_BELOW = 1e-4  # B.4.1


class Scans(CompositeProblem):
    """A session is a client; the loss and the accuracy are of the held-out scans."""

    measurable = ("loss", "accuracy", "density")
    keeps_point = True

    def __init__(self, dataset, clients, held_out, setting, seed):
        voxels = np.linspace(0, dataset.X.shape[1] - 1, min(setting["voxels"], dataset.X.shape[1])).astype(
            int
        )
        rows = np.concatenate(clients)
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in clients])])
        model = LinearModel("logistic", take(dataset.X, rows, voxels), dataset.y[rows])
        super().__init__(
            model, offsets, setting, seed, np.append(beginning(setting["start"], seed, len(voxels)), 0.0),
            origin=dataset.origin, title=dataset.title, checksum=dataset.checksum,
        )  # fmt: skip
        X, y = take(dataset.X, held_out, voxels), dataset.y[held_out].astype(float)
        self.place = {"voxel": dataset.extra["voxel"][voxels]} | {
            name: np.asarray(dataset.extra[name]) for name in ("grid", "affine")
        }
        psi = self.psi({})
        self.measures = {
            "loss": lambda p, ref: model.value(p, X, y) + psi.value(p),
            "accuracy": lambda p, ref: np.mean((model.predict(p, X) > 0) == (y > 0.5)),
            "density": lambda p, ref: np.mean(np.abs(p[:-1]) >= ZERO_BELOW),
        }

    def psi(self, constants):
        return OnBlocks(L1(self.setting["lambda"]), (slice(0, self.costs.size - 1),))

    def reference(self):
        """Nothing is solved beforehand: the centralised baseline is an algorithm of its own here."""
        return Reference(facts={"clients": len(self.sampling.offsets) - 1, "voxels": self.costs.size - 1})

    def geometry(self):
        return self.place


def take(X, rows, columns) -> np.ndarray:
    """Some rows and columns of a memory-mapped array, in single precision, rows contiguous."""
    whole = len(columns) == X.shape[1]
    return np.ascontiguousarray(X[rows] if whole else X[rows][:, columns], np.float32)


class Sessions(TypedDict("Penalty", {"lambda": Positive})):
    start: Literal["glorot", "zero"]
    cohort: Count
    batch: Count
    epochs: Count
    voxels: Count


class Subject(Sessions):
    validation_sessions: Count


@problem()
def sessions(setting: Subject, seed, data) -> Scans:
    """Haxby et al. 2001: face or house, 18 scans a session. Subject 6 is held out, or, where there is but one subject,
    its last `validation_sessions`."""
    dataset, clients = every_session(data, seed)
    if "subject" in dataset.extra:
        held = [np.isin(part[0], dataset.test) for part in clients]
    else:
        held = [i >= len(clients) - setting["validation_sessions"] for i in range(len(clients))]
    return split(dataset, clients, held, setting, seed)


@problem()
def session_left_out(setting: Sessions, seed, data) -> Scans:
    """Subject 1 alone, one session held out: seed after seed another one."""
    dataset, clients = every_session(data, seed)
    if "subject" in dataset.extra:
        clients = [part for part in clients if dataset.extra["subject"][part[0]] == 1]
    held = [i == seed % len(clients) for i in range(len(clients))]
    return split(dataset, clients, held, setting, seed)


def every_session(data, seed):
    """The dataset, and the rows of all its sessions, those to be held out included."""
    return datasets.load(data.dataset, data.root), partition.read(data.partition, seed).rows


def split(dataset, clients, held, setting, seed) -> Scans:
    train, away = (
        [part for part, out in zip(clients, held, strict=True) if out == side] for side in (False, True)
    )
    return Scans(dataset, train, np.concatenate(away), setting, seed)


class Subjects(Sessions):
    volume: tuple[Count, Count, Count]
    runs: Annotated[list[Count], NotEmpty()]  # of each subject


@problem()
def shape(setting: Subjects, seed, data=None) -> Scans:
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
    return Scans(dataset, [train[part] for part in clients], dataset.test, setting, seed)
