"""Where FedGD(s, e) ends on least squares, in closed form. Pathak & Wainwright 2020, eq. (10)."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count
from fedrepro.maths.steps import Step


@algorithm(needs={"gradient", "hessian"})
def fedgd_limit(clients, *, step: Step = "1/L*", local_steps: Count = 1):
    """The fixed point (Σ_j G_j P_j)⁻¹ Σ_j P_j A_jᵀb_j with P_j = Σ_{k<e} (I − sG_j)ᵏ and G_j = A_jᵀA_j.

    Not a method a federation would run: it draws the horizontal line FedGD's curve must settle on.
    """
    s = clients.step(step)
    zero = np.zeros(clients.shape)
    G, Atb = clients.hessians(zero), -clients.gradients(zero)
    eye = np.eye(len(zero))
    P, power = np.zeros_like(G), np.broadcast_to(eye, G.shape)
    for _ in range(local_steps):
        P = P + power
        power = power @ (eye - s * G)
    x = np.linalg.solve((G @ P).sum(axis=0), (P @ Atb[..., None])[..., 0].sum(axis=0))
    while True:
        yield x
