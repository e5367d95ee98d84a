"""AᵀWA of a sparse matrix A with few entries a row: compiled. Its result is dense."""

from numba import njit


@njit(cache=True)
def gram(indptr, indices, data, w, out):
    """out = AᵀWA for CSR arrays whose indices increase along each row; all of `out` is written."""
    out[:] = 0.0
    for i in range(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            row, scaled = out[indices[k]], w[i] * data[k]
            for j in range(indptr[i], k + 1):
                row[indices[j]] += scaled * data[j]
    for i in range(out.shape[0]):
        for j in range(i):
            out[j, i] = out[i, j]
