"""The augmented Lagrangian (2.1) of the consensus problem: the metric of Niu & Wei's section 4 and Theorem 4.1.

Differences of the Lagrangian are written as Bregman divergences of the local costs, so that no two nearly equal
sums are subtracted and a contraction of 1 − 10⁻⁶ a round can be seen.
"""

import numpy as np


def inner_minimiser(costs, dual, mu, start, tolerance=1e-13, limit=60):
    """x̃*(λ) = argmin L̃(·, λ): the server's point and the clients', by Newton on the arrow-shaped system."""
    x = np.array(start)
    x0 = x.mean(axis=0) - dual.mean(axis=0) / mu
    scale = 1.0 + np.abs(dual).max()
    for _ in range(limit):
        g = costs.gradient(x) - dual + mu * (x - x0)
        g0 = dual.sum(axis=0) + mu * (len(x) * x0 - x.sum(axis=0))
        if max(np.abs(g).max(), np.abs(g0).max()) <= tolerance * scale:
            break
        K = np.linalg.inv(costs.hessian(x) + mu * np.eye(x.shape[1]))
        Kg = np.matmul(K, g[..., None])[..., 0]
        schur = mu * (len(x) * np.eye(x.shape[1]) - mu * K.sum(axis=0))
        step0 = np.linalg.solve(schur, -g0 - mu * Kg.sum(axis=0))
        x0, x = x0 + step0, x - Kg + mu * (K @ step0)
    return x0, x


def metric(costs, optimum, x, dual, mu) -> tuple[float, float]:
    """(4.1): the primal tracking error Δ_x̃ and the dual gap Δ_λ at clients' points x and duals λ.

    Δ_x̃ is the divergence of L̃(·, λ) from its minimiser to x̃, and Δ_λ = g(λ*) − g(λ) the one to the optimum,
    since L̃(x̃*, λ) = f(x*) = g(λ*) whatever λ.
    """
    x0 = x.mean(axis=0) - dual.mean(axis=0) / mu
    near0, near = inner_minimiser(costs, dual, mu, x)

    def divergence(y0, y):
        spread = (y0 - near0) - (y - near)
        return float(np.sum(costs.divergence(y, near)) + 0.5 * mu * np.sum(spread**2))

    return divergence(x0, x), divergence(optimum, np.broadcast_to(optimum, x.shape))


def largest_steps(low, high, J2, mu) -> tuple[np.ndarray, np.ndarray]:
    """The largest a_i and b_i that (4.2) allows; low and high are the clients' m_i and ℓ_i."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    second = np.isin(np.arange(len(low)), J2)
    cap = 1.0 / (22.0 * mu / 9.0 + 2.0 * high.max())
    a = np.where(second, (low + mu) * cap, cap)
    alpha = np.min(np.where(second, a / (high + mu), a))
    beta = min(mu / 9.0, alpha * low.min() ** 2 / 21.0)
    return a, np.where(second, beta / (high + mu), beta)


def rates(low, high, J2, mu) -> dict[str, float]:
    """ρ of Theorem 4.1 at those stepsizes: as `printed`, with 13m + 13μ, and as `proved`, with 13(μ + ℓ)."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    second = np.isin(np.arange(len(low)), J2)
    a, b = largest_steps(low, high, J2, mu)
    alpha = np.min(np.where(second, a / (high + mu), a))
    beta = np.min(np.where(second, b * (low + mu), b))
    primal = low.min() * alpha / 2.0
    return {
        "printed": min(3.0 * beta / (13.0 * (low.min() + mu)), primal),
        "proved": min(3.0 * beta / (13.0 * (mu + high.max())), primal),
    }
