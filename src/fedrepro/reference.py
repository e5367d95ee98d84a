"""Reference optima, to 1e-12 in the gradient, and the constants of the problem at hand."""

import numpy as np

from fedrepro.costs import Quadratics


def solve(costs, start: np.ndarray | None = None) -> dict:
    """x*, F*, and l*, L* (over the clients), l_F, L_F (of the mean), D2 = ‖x⁽¹⁾ − x*‖²."""
    x = minimum_of_quadratics(costs) if isinstance(costs, Quadratics) else minimum_by_newton(costs)
    rows = np.broadcast_to(x, (costs.m, *x.shape))
    low, high = costs.bounds(x)
    mean = costs.hessian(rows).mean(axis=0)
    lam = np.linalg.eigvalsh(mean)
    top = lam.max() if isinstance(costs, Quadratics) else mean_smoothness(costs)
    begin = np.zeros(costs.shape) if start is None else start
    return {
        "x": x,
        "value": float(np.sum(costs.value(rows))),
        "residual": float(np.linalg.norm(costs.gradient(rows).sum(axis=0))),
        "l*": float(low.min()),
        "L*": float(high.max()),
        "l_F": float(lam.min()),
        "L_F": float(top),
        "D2": float(np.sum((begin - x) ** 2)),
    }


def minimum_of_quadratics(costs: Quadratics) -> np.ndarray:
    """The (least-norm) solution of ΣG_j x = Σc_j, refined once against rounding."""
    G, c = costs.G.sum(axis=0), costs.c.sum(axis=0)
    lam, Q = np.linalg.eigh(G)
    keep = lam > 1e-10 * lam[-1]

    def solve(r):
        return Q[:, keep] @ ((Q[:, keep].T @ r) / lam[keep])

    x = solve(c)
    return x + solve(c - G @ x)


def minimum_by_newton(costs, tolerance: float = 1e-12, limit: int = 100) -> np.ndarray:
    """Damped Newton on Σf_j until ‖∇F‖ stops falling, which must be below 1e-12 ‖∇F(0)‖."""
    x = np.zeros(costs.shape)

    def total(x):
        rows = np.broadcast_to(x, (costs.m, *x.shape))
        return float(np.sum(costs.value(rows))), costs.gradient(rows).sum(axis=0), rows

    value, g, rows = total(x)
    scale = np.linalg.norm(g)
    best, lowest = x, scale
    for _ in range(limit):
        H = costs.hessian(rows).sum(axis=0)
        if x.ndim == 1:
            direction = np.linalg.solve(H, g)
        else:
            direction = np.linalg.solve(H, g.T[..., None])[..., 0].T
        t, slope = 1.0, float(np.sum(g * direction))
        while (new := total(x - t * direction))[0] > value - 0.1 * t * slope + 1e-13 * abs(value):
            t *= 0.5
            if t < 1e-12:
                break
        x = x - t * direction
        value, g, rows = new
        size = np.linalg.norm(g)
        if size > 0.5 * lowest and lowest <= tolerance * scale:
            return best  # rounding keeps the last digits from us; `residual` records how many
        if size < lowest:
            best, lowest = x, size
    raise ArithmeticError(f"the reference optimum was not reached: relative gradient {lowest / scale:.1e}")


def mean_smoothness(costs) -> float:
    """L of (1/m)Σf_j for a loss of linear predictions."""
    weight = costs.w if costs.w.ndim == 2 else costs.w[..., 0]
    gram = costs.data.gram(np.broadcast_to(weight, costs.b.shape[:2])).mean(axis=0)
    return float(costs.loss.smoothness * np.linalg.eigvalsh(gram)[-1] + costs.ridge)


def save(path, table: dict[tuple[str, int], dict]) -> None:
    """One .npz for an experiment: arrays named `<setting>|<seed>|<quantity>`."""
    flat = {
        f"{setting}|{seed}|{key}": value
        for (setting, seed), entry in table.items()
        for key, value in entry.items()
    }
    with open(path, "wb") as file:
        np.savez(file, **flat)


def read(path) -> dict[tuple[str, int], dict]:
    table: dict[tuple[str, int], dict] = {}
    with np.load(path, allow_pickle=False) as archive:
        for name in archive.files:
            setting, seed, key = name.split("|")
            value = archive[name]
            table.setdefault((setting, int(seed)), {})[key] = float(value) if value.ndim == 0 else value
    return table
