"""The minimiser of Σ_j f_j over stacked costs, to 1e-12 in the gradient, and the constants of the problem there."""

import numpy as np

from fedrepro.maths.costs import Quadratics
from fedrepro.maths.newton import solve_columns, to_rounding


def shared(costs, x: np.ndarray) -> np.ndarray:
    """x at every client."""
    return np.broadcast_to(x, (costs.m, *x.shape))


def minimiser(costs) -> np.ndarray:
    return minimum_of_quadratics(costs) if isinstance(costs, Quadratics) else minimum_by_newton(costs)


def certificate(costs, x: np.ndarray) -> dict[str, float]:
    """F(x) and ‖∇F(x)‖, of the sum."""
    rows = shared(costs, x)
    return {
        "value": float(np.sum(costs.value(rows))),
        "residual": float(np.linalg.norm(costs.gradient(rows).sum(axis=0))),
    }


def constants(costs, x: np.ndarray) -> dict[str, float]:
    """l*, L* over the clients, l_F, L_F of the mean, near x where the costs have no global ones."""
    low, high = costs.bounds(x)
    mean = costs.hessian(shared(costs, x)).mean(axis=0)
    lam = np.linalg.eigvalsh(mean)
    top = lam.max() if isinstance(costs, Quadratics) else mean_smoothness(costs)
    return {"l*": float(low.min()), "L*": float(high.max()), "l_F": float(lam.min()), "L_F": float(top)}


def minimum_of_quadratics(costs: Quadratics) -> np.ndarray:
    """The (least-norm) solution of ΣG_j x = Σc_j, refined once against rounding."""
    G, c = costs.G.sum(axis=0), costs.c.sum(axis=0)
    lam, Q = np.linalg.eigh(G)
    keep = lam > 1e-10 * lam[-1]

    def solve(r):
        return Q[:, keep] @ ((Q[:, keep].T @ r) / lam[keep])

    x = solve(c)
    return x + solve(c - G @ x)


def minimum_by_newton(costs) -> np.ndarray:
    """Newton on F = Σf_j until ‖∇F‖ stops falling, which must be below 1e-12 ‖∇F(0)‖."""
    start = np.zeros(costs.shape)

    def value(x):
        return np.sum(costs.value(shared(costs, x)))

    def gradient(x):
        return costs.gradient(shared(costs, x)).sum(axis=0)

    def solve(x, g):
        return solve_columns(costs.hessian(shared(costs, x)).sum(axis=0)[None], g[None])[0]

    tolerance = 1e-12 * np.linalg.norm(gradient(start))
    return to_rounding(start, value, gradient, solve, tolerance, "the reference optimum")


def mean_smoothness(costs) -> float:
    """L of (1/m)Σf_j for a loss of linear predictions."""
    weight = costs.w if costs.w.ndim == 2 else costs.w[..., 0]
    gram = costs.data.gram(np.broadcast_to(weight, costs.b.shape[:2])).mean(axis=0)
    return float(costs.loss.smoothness * np.linalg.eigvalsh(gram)[-1] + costs.ridge)
