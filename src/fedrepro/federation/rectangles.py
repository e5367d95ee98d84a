"""Doubly distributed data: every client owns a rectangle, some of the samples times some of the features.

The server knows who holds sample n and feature m and nothing else of the data. Samples held by the same
clients form a *group*: what is said of one sample of a group (who holds it, whether it must be exchanged) is
true of all, so duals and inner products travel group by group and a cipher can pack them.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from fedrepro.maths import hinge
from fedrepro.maths.kernels import scatter
from fedrepro.maths.seeds import stream


@dataclass
class Rectangle:
    """What one client owns."""

    name: str  # says which rectangle it is, in whatever order the clients are listed
    X: np.ndarray | scipy.sparse.csr_array  # its samples x its features
    y: np.ndarray
    columns: np.ndarray  # which of the M features these are
    groups: list[int]  # its samples, as groups, in the order of its rows

    @property
    def n(self) -> int:
        return len(self.y)

    def weights(self, alpha: np.ndarray, last: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Σ α_i x_i, given that it was `part` for the duals `last`: only rows whose dual has changed are read."""
        rows = np.flatnonzero(alpha != last)
        if 2 * len(rows) > self.n:
            return self.X.T @ alpha
        change = alpha[rows] - last[rows]
        if isinstance(self.X, np.ndarray):
            return part + self.X[rows].T @ change
        part = part.copy()
        scatter.add_rows(part, self.X.data, self.X.indices, self.X.indptr, rows, change)
        return part

    def squares(self) -> np.ndarray:
        """Squared length of each row, as far as this client sees it."""
        if isinstance(self.X, np.ndarray):
            return np.einsum("ij,ij->i", self.X, self.X)
        rows = np.repeat(np.arange(self.n), np.diff(self.X.indptr))
        return np.bincount(rows, self.X.data**2, self.n)


class Rectangles:
    """An N x M matrix with labels y in {-1, 1}, cut into disjoint rectangles that cover its non-zeros.

    A feature that is zero in all of a client's samples is not among its features: nobody can hold a word that
    occurs in none of his texts. Samples are kept in the order of their groups.
    """

    def __init__(self, X, y, rows: list[np.ndarray], columns: list[np.ndarray], lam: float):
        self.N, self.M = X.shape
        self.lam = lam
        listed = sorted(zip(rows, columns, strict=True), key=lambda rc: (rc[0].min(), rc[1].min()))
        self.groups, self.holders = group_samples(self.N, [r for r, _ in listed])
        y = np.asarray(y, float)
        self.y = y[np.concatenate(self.groups)]
        self.clients, taken = [], None
        for k, (own, features) in enumerate(listed):
            mine = [g for g, holders in enumerate(self.holders) if k in holders]
            if taken != mine:  # neighbours in the list share their samples
                samples, taken = np.concatenate([self.groups[g] for g in mine]), mine
                band = X[samples]
            part, kept = columns_of(band, np.asarray(features))
            name = f"{own.min()}/{features.min()}"
            self.clients.append(Rectangle(name, part, y[samples], kept, mine))
        self.bounds = np.concatenate([[0], np.cumsum([len(g) for g in self.groups])])
        stored = sum(c.X.size if isinstance(c.X, np.ndarray) else c.X.nnz for c in self.clients)
        if stored != (X.size if isinstance(X, np.ndarray) else X.nnz):
            raise ValueError("the clients' rectangles overlap, or leave part of the data to nobody")

    def __len__(self) -> int:
        return len(self.clients)

    def split(self, client: Rectangle, values: np.ndarray) -> list[np.ndarray]:
        """A client's vector over its samples, group by group."""
        if len(client.groups) == 1:
            return [values]
        return np.split(values, np.cumsum([len(self.groups[g]) for g in client.groups])[:-1])

    def combine(self, alpha: np.ndarray) -> np.ndarray:
        """A alpha / (lambda N): the primal point that belongs to the duals."""
        w = np.zeros(self.M)
        for client in self.clients:
            own = np.concatenate([alpha[self.bounds[g] : self.bounds[g + 1]] for g in client.groups])
            w[client.columns] += client.X.T @ own
        return w / (self.lam * self.N)

    def dual(self, alpha: np.ndarray) -> float:
        """D(alpha), eq. (2)."""
        return hinge.dual(self.y, self.lam, self.combine(alpha), alpha)


def group_samples(N: int, rows: list[np.ndarray]) -> tuple[list[np.ndarray], list[list[int]]]:
    """Samples by who holds them: the samples of each group, and its holders."""
    marks = stream(0, "who holds what").integers(1, 2**62, len(rows), dtype=np.uint64)
    signature = np.zeros(N, np.uint64)
    for mark, own in zip(marks, rows, strict=True):
        signature[own] += mark
    if not signature.all():
        raise ValueError(f"{np.count_nonzero(signature == 0)} samples belong to no client")
    _, first, group = np.unique(signature, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # groups in the order of their first sample
    group = rank[group]
    samples = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    holders: list[list[int]] = [[] for _ in samples]
    for k, own in enumerate(rows):
        for g in np.unique(group[own]):
            holders[g].append(k)
    return samples, holders


def columns_of(band, columns: np.ndarray):
    """Some columns of a matrix and, if it is sparse, only those of them that are not empty."""
    if isinstance(band, np.ndarray):
        return np.ascontiguousarray(band[:, columns], float), columns
    part = scipy.sparse.csr_array(band[:, columns])
    used = np.zeros(len(columns), bool)
    used[part.indices] = True
    place = (np.cumsum(used) - 1).astype(np.int32)
    arrays = (part.data.astype(float), place[part.indices], part.indptr.astype(np.int32))
    return scipy.sparse.csr_array(arrays, shape=(band.shape[0], int(used.sum()))), columns[used]
