"""The rank-1 compression of what an agent's Hessian has more than another matrix."""

import numpy as np

from fedrepro.maths.curvature import Curvature
from fedrepro.maths.lanczos import CHECK_EVERY, STEPS, by_lapack, dominant


def compress(
    hessian, less: np.ndarray, start: np.ndarray, tolerance: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """λ and v of the best λvvᵀ for H − B, and a good start for what is left of it; see `lanczos.dominant`."""
    n = len(less)
    if not (
        isinstance(hessian, Curvature) and isinstance(hessian.A, np.ndarray) and n > STEPS and start.any()
    ):
        return dominant(hessian - less, start, tolerance)
    from fedrepro.maths.kernels import lanczos  # compiling is for those who need it

    settled, value, vector, following = lanczos.dominant(
        hessian.A, hessian.c, hessian.ridge, less, start, tolerance, STEPS, CHECK_EVERY
    )
    return (value, vector, following) if settled else by_lapack(hessian - less)
