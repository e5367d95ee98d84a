"""FedNew: one step of ADMM on the Newton system an iteration; Hessians stay where they are. Elgabli et al. 2022, Algorithm 1."""

from typing import Literal

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import NonNegative, Positive


@algorithm(needs={"gradient", "hessian"})
def fednew(
    clients, *, alpha: NonNegative = 0.1, rho: Positive = 0.1, hessians: Literal["always", "once"] = "always"
):
    """y_i = (H_i + (α + ρ)I)⁻¹(g_i − λ_i + ρy), y their mean, λ_i ← λ_i + ρ(y_i − y), x ← x − y: the y of consensus
    ADMM on ½yᵀ(H_i + αI)y − g_iᵀy, warm from the last iteration. d floats up and d down, from which clients know x.

    H_i is that of the last point, or with `once` of the start (the paper's rates r = 1 and r = 0). Written from the
    paper's description: whether its α enters once a client, as here, or once in all is our reading.
    """
    x = clients.receive(clients.start)
    dual, y, H = 0 * clients.stack(x), 0 * x, None
    eye = np.eye(len(x))
    while True:
        if H is None or hessians == "always":
            H = clients.hessians(x)
        g = clients.gradients(x)
        own = np.linalg.solve(H + (alpha + rho) * eye, (g - dual + rho * y)[..., None])[..., 0]
        y = clients.receive(clients.average(own))
        dual = dual + rho * (own - y)
        x = x - y
        yield x
