"""LIBSVM's text form: a label, then index:value pairs."""

import io

import numpy as np
import scipy.sparse

from fedrepro.datasets import DataError


def read_libsvm(content: bytes, what: str, columns: int) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(content), n_features=columns, dtype=np.float32, zero_based=False)
    except (ValueError, OverflowError, MemoryError) as error:
        raise DataError(f"{what}: not LIBSVM text with {columns:,} columns ({str(error)[:160]})") from None
    if not np.isfinite(X.data).all() or not np.isin(y, (-1, 1)).all():
        raise DataError(f"{what}: a label is not -1 or +1, or a value is not finite")
    X = scipy.sparse.csr_array(X)
    if X.nnz and (X.indices.min() < 0 or X.indices.max() >= columns):
        raise DataError(f"{what}: a column index is out of 1..{columns:,}")
    return X, y.astype(np.int8)
