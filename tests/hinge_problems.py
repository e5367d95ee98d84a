"""A small support vector problem with unit rows, some entries zero."""

import numpy as np


def unit_problem(n=60, m=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m))
    X[rng.random((n, m)) < 0.3] = 0.0
    y = np.where(X @ rng.standard_normal(m) + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12), y
