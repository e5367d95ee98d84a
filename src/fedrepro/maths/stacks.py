"""Client data in stacked form: one linear map per client, applied to all clients in one call.

`DenseStack` pads clients to the longest one and lets BLAS run over the client axis; `SparseStack` keeps a
list of CSR matrices. Both offer the same operations, so that the losses need not know which they have.
A stack of K-column predictions (one-vs-all) only adds a trailing axis.
"""

import numpy as np
from scipy import sparse


class EmptyClient(ValueError):
    """A client without a single row cannot take part."""


def stack(matrices: list) -> "DenseStack | SparseStack":
    """The stack of per-client design matrices A_j (all with the same number of columns)."""
    for j, matrix in enumerate(matrices):
        if matrix.shape[0] == 0:
            raise EmptyClient(
                f"client {j} of {len(matrices)} has no rows; use fewer clients or another partition"
            )
    return SparseStack(matrices) if any(sparse.issparse(a) for a in matrices) else DenseStack(matrices)


class DenseStack:
    """Clients' matrices A_j as one array (m, n, d), shorter clients padded with zero rows."""

    def __init__(self, matrices: list[np.ndarray]):
        self.sizes = np.array([len(a) for a in matrices])
        self.shape = (len(matrices), int(self.sizes.max()), matrices[0].shape[1])
        self.A = np.zeros(self.shape)
        for j, a in enumerate(matrices):
            self.A[j, : len(a)] = a

    def predict(self, x: np.ndarray) -> np.ndarray:
        """A_j x_j for a stack x of shape (m, d) or (m, d, K)."""
        return np.matmul(self.A, x[..., None])[..., 0] if x.ndim == 2 else np.matmul(self.A, x)

    def predict_shared(self, x: np.ndarray) -> np.ndarray:
        """A_j x for one x that all clients share: a single product over all rows."""
        flat = self.A.reshape(-1, self.shape[2]) @ x
        return flat.reshape(self.shape[0], self.shape[1], *x.shape[1:])

    def adjoint(self, r: np.ndarray) -> np.ndarray:
        """A_jᵀ r_j."""
        At = self.A.transpose(0, 2, 1)
        return np.matmul(At, r[..., None])[..., 0] if r.ndim == 2 else np.matmul(At, r)

    def gram(self, w: np.ndarray | None = None) -> np.ndarray:
        """A_jᵀ diag(w_j) A_j, shape (m, d, d), for w ≥ 0: as BᵀB, of which BLAS computes one triangle.

        One client at a time, so that its B stays in the cache between the two passes over it.
        """
        m, n, d = self.shape
        out, B = np.empty((m, d, d)), np.empty((n, d))
        for j, A in enumerate(self.A):
            B = A if w is None else np.multiply(np.sqrt(w[j])[:, None], A, out=B)
            np.matmul(B.T, B, out=out[j])
        return out

    def pair(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """A_j and A_jᵀ."""
        A = self.A[j, : self.sizes[j]]
        return A, A.T

    def pad(self, columns: list[np.ndarray], fill: float = 0.0) -> np.ndarray:
        """Per-client columns (n_j,) or (n_j, K) as one array of the stack's row layout."""
        return pad_rows(columns, self.shape[1], fill)


class SparseStack:
    """The same operations over a list of CSR matrices; nothing of size n × d is ever dense."""

    def __init__(self, matrices: list):
        self.A = [sparse.csr_array(a) for a in matrices]
        for a in self.A:
            a.sort_indices()
        self.At = [sparse.csr_array(a.T) for a in self.A]
        self.sizes = np.array([a.shape[0] for a in self.A])
        self.shape = (len(matrices), int(self.sizes.max()), matrices[0].shape[1])

    def predict(self, x: np.ndarray) -> np.ndarray:
        out = np.zeros((self.shape[0], self.shape[1], *x.shape[2:]))
        for j, a in enumerate(self.A):
            out[j, : a.shape[0]] = a @ x[j]
        return out

    def predict_shared(self, x: np.ndarray) -> np.ndarray:
        return self.predict(np.broadcast_to(x, (self.shape[0], *x.shape)))

    def adjoint(self, r: np.ndarray) -> np.ndarray:
        return np.stack([at @ r[j, : at.shape[1]] for j, at in enumerate(self.At)])

    def gram(self, w: np.ndarray | None = None) -> np.ndarray:
        from fedrepro.maths.kernels.gram import gram  # compiling is for those who need it

        m, n, d = self.shape
        out, w = np.empty((m, d, d)), np.ones((m, n)) if w is None else w
        for j, a in enumerate(self.A):
            gram(a.indptr, a.indices, a.data, w[j], out[j])
        return out

    def pair(self, j: int) -> tuple:
        return self.A[j], self.At[j]

    def pad(self, columns: list[np.ndarray], fill: float = 0.0) -> np.ndarray:
        return pad_rows(columns, self.shape[1], fill)


def pad_rows(columns: list[np.ndarray], rows: int, fill: float) -> np.ndarray:
    out = np.full((len(columns), rows, *np.shape(columns[0])[1:]), fill)
    for j, column in enumerate(columns):
        out[j, : len(column)] = column
    return out
