"""Damped Newton for a stack of convex functions h_1, …, h_R, one per row of x."""

import numpy as np

STEPS = 60
HALVINGS = 40


def newton(x: np.ndarray, value, direction, what: str) -> np.ndarray:
    """The minimisers, from the rows of x, each with a line search of its own (Nocedal & Wright, eq. 3.6a).

    `value(x, rows)` are the functions `rows` at the rows of x. `direction(x, rows)` says which of them go on, by place
    in `rows`, and for these the steps −(∇²h)⁻¹∇h and the decreases −∇hᵀstep they promise; a row that does not go on
    has converged and is not asked for again.
    """
    x, rows = np.array(x), np.arange(len(x))
    before = value(x, rows)
    for _ in range(STEPS):
        going, step, promised = direction(x[rows], rows)
        if len(going) == 0:
            return x
        rows, before = rows[going], before[going]
        here, t = x[rows], np.ones(len(rows))
        for _ in range(HALVINGS):
            trial = here + t.reshape(-1, *(1,) * (x.ndim - 1)) * step
            after = value(trial, rows)
            short = after > before - 0.1 * t * promised + 1e-13 * np.abs(before)  # rounding is allowed for
            if not short.any():
                break
            t = np.where(short, 0.5 * t, t)
        x[rows], before = trial, after
    raise ArithmeticError(f"{what} did not converge in {STEPS} Newton steps")


def to_rounding(x: np.ndarray, value, gradient, solve, tolerance: float, what: str, enough: float = 0.0):
    """The minimiser of a single h to the last digit: until ‖∇h‖, once below the tolerance, no longer halves, or until
    it is small enough. `solve(x, g)` is (∇²h)⁻¹g."""
    best, lowest = x, np.inf

    def direction(x, rows):
        nonlocal best, lowest
        g = gradient(x[0])
        size = np.linalg.norm(g)
        stalled = size > 0.5 * lowest and lowest <= tolerance
        if size < lowest:
            best, lowest = x[0], size
        if stalled or size <= enough:
            return (), None, None
        step = solve(x[0], g)
        return [0], -step[None], np.sum(g * step)

    newton(x[None], lambda x, rows: np.array([value(x[0])]), direction, what)
    return best


def solve_columns(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """H⁻¹g for g of shape (R, d), or (R, d, K) where every column has its own matrix, H of shape (R, K, d, d)."""
    if g.ndim == 2:
        return np.linalg.solve(H, g[..., None])[..., 0]
    return np.moveaxis(np.linalg.solve(H, np.moveaxis(g, 2, 1)[..., None])[..., 0], 1, 2)
