"""Costs of clients whose data are beyond memory: read again whenever they are needed, some clients at a time.

Whatever is computed of one client stays apart from the others, in the padding it would have among all of them, and
sums over clients are taken over all at once or in their order. So no bit of a result hangs on how many clients are in
memory together, and all are those of `maths.costs`.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from fedrepro.maths.costs import LinearModels, Quadratics
from fedrepro.maths.losses import LOSSES
from fedrepro.maths.stacks import DenseStack, pad_rows

LIBRARIES = 0.25e9  # bytes: Python and what it imports
VECTORS = 12  # of d numbers for every client, which an algorithm and its oracles hold at once
COLUMNS = 6  # of a number for every row of data
MATRICES = 4  # of d x d for every client in memory, while they are formed and factorised


class Part(DenseStack):
    """Some of the clients, padded like all of them."""

    def __init__(self, matrices: Iterator[np.ndarray], sizes: np.ndarray, rows: int, d: int):
        self.sizes, self.shape = sizes, (len(sizes), rows, d)
        self.A = np.zeros(self.shape)
        for j, a in enumerate(matrices):
            self.A[j, : len(a)] = a


class StreamedStack:
    """The linear maps A_j, of sizes[j] rows and d columns, of clients of whom `together` are in memory at a time."""

    def __init__(self, matrices: Sequence, sizes: np.ndarray, d: int, together: int):
        self.matrices, self.sizes, self.together = matrices, sizes, together
        self.shape = (len(sizes), int(sizes.max()), d)
        self._all = None

    def __iter__(self) -> Iterator[tuple[slice, Part]]:
        """Which clients, and their stack. Where all are in memory at once, they stay there."""
        if self._all is not None:
            yield slice(0, self.shape[0]), self._all
            return
        for low in range(0, self.shape[0], self.together):
            at = slice(low, min(low + self.together, self.shape[0]))
            part = Part(map(self.read, range(at.start, at.stop)), self.sizes[at], *self.shape[1:])
            if self.together >= self.shape[0]:
                self._all = part
            yield at, part

    def read(self, j: int) -> np.ndarray:
        a = self.matrices[j]
        if np.shape(a) != (self.sizes[j], self.shape[2]):
            raise ValueError(
                f"X[{j}] has the shape {np.shape(a)}, but y[{j}] has {self.sizes[j]} entries and X[0] {self.shape[2]} columns"
            )
        return a

    def map(self, local: Callable, *rows: np.ndarray) -> np.ndarray:
        """local(stack, *rows), with an entry for every client, over all clients."""
        out = None
        for at, part in self:
            found = local(part, *(r[at] for r in rows))
            out = np.empty((self.shape[0], *found.shape[1:])) if out is None else out
            out[at] = found
        return out

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.map(DenseStack.predict, x)

    def predict_shared(self, x: np.ndarray) -> np.ndarray:
        return self.map(lambda part: part.predict_shared(x))

    def adjoint(self, r: np.ndarray) -> np.ndarray:
        return self.map(DenseStack.adjoint, r)

    def gram(self, w: np.ndarray | None = None) -> "Matrices":
        return Matrices(self, DenseStack.gram) if w is None else Matrices(self, DenseStack.gram, w)

    def pad(self, columns: list[np.ndarray], fill: float = 0.0) -> np.ndarray:
        return pad_rows(columns, self.shape[1], fill)


class Matrices(NDArrayOperatorsMixin):
    """A matrix d x d for every client, formed when they are gone through, by form(stack, *rows).

    As with an array (m, d, d), a matrix or number for all can be added or multiplied, `np.linalg.solve` and `eigvalsh`
    take them, and so do loops, some clients at a time. Whatever else NumPy does with them forms all at once.
    """

    def __init__(self, data: StreamedStack, form: Callable, *rows: np.ndarray):
        self.data, self.form, self.rows = data, form, rows
        self.shape, self.ndim = (data.shape[0], data.shape[2], data.shape[2]), 3

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[np.ndarray]:
        for at, part in self.data:
            yield from self.form(part, *(r[at] for r in self.rows))

    def map(self, local: Callable, *rows: np.ndarray) -> np.ndarray:
        """local(matrices, *rows), with an entry for every client, over all clients."""
        n = len(self.rows)
        return self.data.map(lambda part, *r: local(self.form(part, *r[:n]), *r[n:]), *self.rows, *rows)

    def then(self, change: Callable) -> "Matrices":
        return Matrices(self.data, lambda part, *rows: change(self.form(part, *rows)), *self.rows)

    def __getitem__(self, key) -> np.ndarray:
        return np.asarray(self)[key]

    def __array_ufunc__(self, ufunc, method, *inputs, **more):
        shared = [other for other in inputs if not isinstance(other, Matrices) and np.ndim(other) < 3]
        if ufunc in (np.add, np.multiply) and method == "__call__" and not more and len(shared) == 1:
            return self.then(lambda H: ufunc(H, shared[0]))
        return getattr(ufunc, method)(*map(whole, inputs), **more)

    def sum(self, axis: int) -> np.ndarray:
        """Over the clients, one after the other, as NumPy adds along the first axis; single numbers it adds in pairs."""
        if axis != 0:
            raise ValueError("matrices that are streamed are summed over the clients, along axis 0")
        if self.shape[1] == 1:
            return np.asarray(self).sum(axis=0)
        total = np.zeros(self.shape[1:])
        for H in self:
            total += H
        return total

    def mean(self, axis: int) -> np.ndarray:
        return self.sum(axis) / len(self)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.asarray(self.map(lambda H: H), dtype)

    def __array_function__(self, function, types, args, kwargs):
        if function in (np.linalg.solve, np.linalg.eigvalsh) and args[0] is self and not kwargs:
            return self.map(function, *args[1:])
        return function(*map(whole, args), **kwargs)


def whole(value):
    return np.asarray(value) if isinstance(value, Matrices) else value


class StreamedModels(LinearModels):
    """Losses of linear predictions; targets and weights, a number a row each, are kept."""

    def __init__(self, loss: str, data: StreamedStack, b: np.ndarray, w: np.ndarray, ridge: float = 0.0):
        self.loss, self.ridge, self.data, self.b, self.w = LOSSES[loss], ridge, data, b, w
        self.m, self.shape = data.shape[0], (data.shape[2],)

    def gradient(self, x):
        def local(part, x, b, w):
            return part.adjoint(w * self.loss.slope(part.predict(x), b)) + self.ridge * x

        return self.data.map(local, x, self.b, self.w)

    def hessian(self, x) -> Matrices:
        diagonal = np.arange(self.shape[0])

        def form(part, x, b, w):
            H = part.gram(w * self.loss.curvature(part.predict(x), b))
            H[:, diagonal, diagonal] += self.ridge
            return H

        return Matrices(self.data, form, x, self.b, self.w)

    curvatures = hessian


class StreamedQuadratics(Quadratics):
    """f_j(x) = (w_j/2)‖A_j x − b_j‖² + (ridge/2)‖x‖²; Gram matrices are formed when they are used."""

    def __init__(self, data: StreamedStack, b: np.ndarray, w: np.ndarray, ridge: float = 0.0):
        eye = np.eye(data.shape[2])
        G = Matrices(data, lambda part, w: w[:, None, None] * part.gram() + ridge * eye, w)
        super().__init__(G, w[:, None] * data.adjoint(b), 0.5 * w * np.sum(b * b, axis=1))

    def apply(self, x):
        return self.G.map(lambda G, x: np.matmul(G, x[..., None])[..., 0], x)

    def prox(self, v, step, start=None):
        return self.G.map(lambda G, c, v: Quadratics(G, c, 0.0).prox(v, step), self.c, v)

    def bounds(self, x=None):
        lam = self.G.map(lambda G: np.linalg.eigh(G)[0])
        return lam[:, 0].copy(), lam[:, -1].copy()


def clients_together(m: int, n: int, d: int, memory_gb: float) -> int:
    """How many of m clients with up to n rows of d numbers may be in memory at once."""
    kept = LIBRARIES + 8.0 * m * (VECTORS * d + COLUMNS * n)
    each = 8.0 * (n * d + MATRICES * d * d)
    if kept + each > 1e9 * memory_gb:
        raise MemoryError(
            f"memory_gb = {memory_gb:g} is too little: vectors and targets of {m:,} clients with up to {n:,} rows of {d:,}"
            f" numbers take {kept / 1e9:.2f} GB, and the data of a client {each / 1e9:.2g}; allow more, or take fewer clients"
        )
    return min(m, int((1e9 * memory_gb - kept) / each))
