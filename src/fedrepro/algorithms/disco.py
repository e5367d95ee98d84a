"""DiSCO: inexact damped Newton steps by distributed preconditioned conjugate gradients. Zhang & Lin 2015,
Algorithms 1 and 2; constants from public code where Niu & Wei, who compare with it, state none."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Natural, Positive


@algorithm(needs={"gradient", "curvature"})
def disco(clients, *, mu: Positive = 0.01, damped: bool = True, main: Natural = 0):
    """The server preconditions with client `main`'s Hessian + μI. Every product with the Hessian is an exchange."""
    x = clients.start
    tolerance = (clients.constants["l_F"] / clients.constants["L_F"]) ** 0.5 / 20.0
    while True:
        clients.receive(x)
        here = clients.stack(x)
        g = clients.average(clients.gradients(here))
        preconditioner = clients.curvature(here, [main], mu)

        def precondition(r, near=preconditioner):
            return near.solve(r[None])[0]

        def hessian(u, here=here):
            return clients.average(clients.products(here, clients.stack(clients.receive(u))))

        v, delta = conjugate_gradients(hessian, precondition, g, tolerance)
        x = x - v / (1.0 + delta) if damped else x - v
        yield x


def conjugate_gradients(hessian, precondition, g, tolerance):
    """v with ‖Hv − g‖ ≤ tolerance·‖g‖, and δ = √(vᵀHv). Columns of g, if any, are systems of their own."""
    target = tolerance * np.sqrt(np.sum(g * g, axis=0))
    v, Hv, r = 0.0 * g, 0.0 * g, g
    s = u = precondition(r)
    product = np.sum(r * s, axis=0)
    for _ in range(2 * len(g)):
        live = np.sqrt(np.sum(r * r, axis=0)) > target
        if not np.any(live):
            break
        Hu = hessian(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            alpha = np.where(live, product / np.sum(u * Hu, axis=0), 0.0)
        v, Hv, r = v + alpha * u, Hv + alpha * Hu, r - alpha * Hu
        s, last = precondition(r), product
        product = np.sum(r * s, axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = s + np.where(live, product / last, 0.0) * u
    return v, np.sqrt(np.maximum(np.sum(v * Hv, axis=0), 0.0))
