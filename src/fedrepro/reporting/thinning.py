"""Fewer points for the same picture: what a screen cannot show is left out."""

import numpy as np

from fedrepro.maths.kernels.thinning import weights


def kept(x: np.ndarray, y: np.ndarray, tolerance: float) -> np.ndarray:
    """Which points of a line to keep so that none that is left out lies farther from it than the tolerance, which has the
    units of both coordinates."""
    return weights(np.ascontiguousarray(x), np.ascontiguousarray(y), tolerance) > 0
