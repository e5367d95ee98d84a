"""Newton on stacks of functions whose minimisers are known, and Nesterov's method beside it."""

import numpy as np
import pytest

from fedrepro.maths.nesterov import accelerate
from fedrepro.maths.newton import newton, solve_columns, to_rounding

CENTRES = np.array([[0.0, 1.0], [3.0, -2.0], [50.0, 40.0]])


def value(x, rows):
    """h_r(x) = Σ √(1 + (x − c_r)²): undamped, Newton's step is −(x − c)(1 + (x − c)²) and diverges from |x − c| > 1."""
    return np.sqrt(1.0 + (x - CENTRES[rows]) ** 2).sum(axis=1)


def direction(seen):
    def look(x, rows):
        seen.append(list(rows))
        u = x - CENTRES[rows]
        root = np.sqrt(1.0 + u**2)
        g, curvature = u / root, root**-3
        going = np.flatnonzero(np.abs(g).max(axis=1) > 1e-12)
        step = -(g / curvature)[going]
        return going, step, -np.sum(g[going] * step, axis=1)

    return look


def test_every_row_finds_its_own_minimum_and_leaves_when_it_has():
    seen = []
    start = np.array(
        [[0.0, 1.0], [3.3, -2.4], [53.0, 41.5]]
    )  # there already, near, and too far for a full step
    given = start.copy()
    np.testing.assert_allclose(newton(start, value, direction(seen), "it"), CENTRES, atol=1e-10)
    np.testing.assert_array_equal(start, given)
    assert seen[:2] == [[0, 1, 2], [1, 2]] and seen[-1] == [2]


def test_a_function_without_a_minimum_is_named():
    def descend(x, rows):  # on exp(−x)
        return rows, np.ones_like(x), np.exp(-x[:, 0])

    with pytest.raises(ArithmeticError, match="an exponential did not converge in 60 Newton steps"):
        newton(np.zeros((1, 1)), lambda x, rows: np.exp(-x[:, 0]), descend, "an exponential")


def test_one_function_is_followed_until_rounding_stops_it():
    """Σ cosh(a_iᵀ(x − c)), least at c."""
    rng = np.random.default_rng(0)
    A, c = rng.standard_normal((40, 6)), rng.standard_normal(6)
    sizes = []

    def value(x):
        return np.cosh(A @ (x - c)).sum()

    def gradient(x):
        g = A.T @ np.sinh(A @ (x - c))
        sizes.append(np.linalg.norm(g))
        return g

    def solve(x, g):
        return np.linalg.solve(A.T @ (np.cosh(A @ (x - c))[:, None] * A), g)

    found = to_rounding(np.zeros(6), value, gradient, solve, 1e-6, "it")
    np.testing.assert_allclose(found, c, rtol=1e-14)
    assert sizes[-1] == 0.0 or sizes[-1] > 0.5 * min(sizes[:-1])
    few = len(sizes)
    sizes.clear()
    to_rounding(np.zeros(6), value, gradient, solve, 1e-6, "it", enough=1e-6)
    assert len(sizes) < few and sizes[-1] <= 1e-6 < sizes[-2]


def test_columns_are_solved_with_matrices_of_their_own():
    rng = np.random.default_rng(1)
    H, g = rng.standard_normal((2, 3, 4, 4)), rng.standard_normal((2, 4, 3))
    np.testing.assert_allclose(np.einsum("rkde,rek->rdk", H, solve_columns(H, g)), g, atol=1e-10)
    np.testing.assert_allclose(np.einsum("rde,re->rd", H[:, 0], solve_columns(H[:, 0], g[..., 0])), g[..., 0])


def test_acceleration_takes_the_root_of_the_condition_number():
    spectrum = np.linspace(1.0, 1e4, 50)

    def descend(y):
        g = spectrum * y
        return y - g / 1e4, np.sum(g * g, axis=1)

    start = np.ones((2, 50))
    found, count = accelerate(start, descend, 1.0, 1e4, 1e-8)
    assert np.linalg.norm(spectrum * found, axis=1).max() <= 1e-8
    gain = np.log(np.linalg.norm(spectrum) * 1e8)
    assert count < 2 * 100 * gain  # √κ = 100; plain descent needs about κ·gain/2
    with pytest.raises(ArithmeticError, match="did not come below"):
        accelerate(start, descend, 1.0, 1e4, 1e-8, limit=10)
