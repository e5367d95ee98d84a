"""Dense layers whose local steps are compiled."""

import numpy as np
from scipy import sparse

from fedrepro.maths.kernels import network, softmax
from fedrepro.maths.kernels.linear import SUBGRADIENT
from fedrepro.maths.models.images import Dense
from fedrepro.maths.models.linear import compiled


class Network(Dense):
    """With hidden layers; the inputs are kept as compressed rows too, since most pixels are zero."""

    def __init__(self, X: np.ndarray, y: np.ndarray, sizes: tuple[int, ...]):
        super().__init__(X, y, sizes)
        rows = sparse.csr_array(X)
        self.pixels = rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data

    def walk(self, mode, mirror, visit, batch, start, rate, shrink):
        code = compiled(mirror, self.kernels)
        if mode == SUBGRADIENT or code is None or code[0] not in softmax.KNOWN:
            return super().walk(mode, mirror, visit, batch, start, rate, shrink)
        out = np.empty((len(visit.lengths), self.size), self.X.dtype)
        out[:] = start
        for state, rows, length in zip(out, visit.rows, visit.lengths, strict=True):
            network.walk(
                *code[:2], mode, np.array(self.sizes), self.pixels, self.y, rows[:length], batch, float(rate),
                float(shrink), state,
            )  # fmt: skip
        return out
