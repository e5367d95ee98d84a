"""FedHybrid: gradient and Newton clients in one primal-dual method. Niu & Wei, Algorithm 1."""

from typing import Literal

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Natural, Positive

PARTS = {
    "quarter": lambda m: m // 4,
    "half": lambda m: m // 2,
    "three quarters": lambda m: 3 * m // 4,
    "all but one": lambda m: m - 1,
    "all": lambda m: m,
}  # how many clients that is


@algorithm(needs={"gradient", "curvature"})
def fedhybrid(
    clients,
    *,
    newton: Natural | Literal[*PARTS],
    chosen: Literal["random", "stiffest", "softest"] = "random",
    mu: Positive = 1.0,
    a: Positive | Literal["bound"] = 1.0,
    b: Positive = 1.0,
    newton_a: Positive = 1.0,
    newton_b: Positive = 1.0,
):
    """`newton` clients (J2), `chosen` at `random` or by how stiff they are, take Newton-type updates; the rest
    (J1) take gradient-type ones. FedH-G has none of them, FedH-K has K, FedH-N has all.

    a_i, b_i are `a`, `b` for J1 and `newton_a`, `newton_b` for J2, or `bound`: the largest that (4.2) allows.
    """
    J2 = newton_clients(clients.constants, newton, chosen)
    a, b = personal(clients, J2, mu, a, b, newton_a, newton_b)
    x0 = clients.start
    x = clients.stack(x0)
    dual = 0.0 * x
    while True:
        clients.receive(x0)
        D = clients.update_matrix(x, J2, mu)  # I for J1, ∇²f_i(x_i) + μI for J2
        slope = clients.gradients(x) - dual + mu * (x - x0)  # ∇_x of the augmented Lagrangian (2.1)
        x, dual = x - a * D.solve(slope), dual + b * D.apply(x0 - x)  # lines 5-6 and 9-10
        x0 = clients.consensus(x, dual, mu)  # line 12
        yield x0


def newton_clients(constants: dict, count: int | str, chosen: str) -> np.ndarray:
    """J2: the first `count` (a number, or one of PARTS) of the clients in random order, from stiff to soft, or from soft
    to stiff."""
    high = np.asarray(constants["high"])
    count = PARTS[count](len(high)) if count in PARTS else int(count)
    if not 0 <= count <= len(high):
        raise ValueError(f"{count} Newton clients of {len(high)}; take a number from 0 to {len(high)}")
    order = {
        "random": lambda: constants["order"],
        "stiffest": lambda: np.argsort(-high, kind="stable"),
        "softest": lambda: np.argsort(high, kind="stable"),
    }[chosen]()
    return np.sort(np.asarray(order[:count], int))


def personal(clients, J2, mu, a, b, newton_a, newton_b) -> tuple[np.ndarray, np.ndarray]:
    """(a_i) and (b_i), shaped to multiply a stack."""
    if isinstance(a, str) and a == "bound":
        a, b = largest_steps(clients.constants["low"], clients.constants["high"], J2, mu)
        return a[:, None], b[:, None]
    second = np.isin(np.arange(clients.m), J2).reshape(-1, *(1,) * clients.start.ndim)
    return np.where(second, newton_a, a), np.where(second, newton_b, b)


def largest_steps(low, high, J2, mu) -> tuple[np.ndarray, np.ndarray]:
    """The largest a_i and b_i that (4.2) allows; low and high are the clients' m_i and ℓ_i."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    second = np.isin(np.arange(len(low)), J2)
    cap = 1.0 / (22.0 * mu / 9.0 + 2.0 * high.max())
    a = np.where(second, (low + mu) * cap, cap)
    alpha = np.min(np.where(second, a / (high + mu), a))
    beta = min(mu / 9.0, alpha * low.min() ** 2 / 21.0)
    return a, np.where(second, beta / (high + mu), beta)
