"""Where FedProx ends on least squares, in closed form. Pathak & Wainwright 2020, the display before eq. (10)."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.steps import Step


@algorithm(needs={"gradient", "hessian"})
def fedprox_limit(clients, *, step: Step = "1/sqrt(l*L*)"):
    """The fixed point (Σ_j {I − (I + sG_j)⁻¹})⁻¹ Σ_j (G_j + I/s)⁻¹ A_jᵀb_j with G_j = A_jᵀA_j.

    Not a method a federation would run: it draws the horizontal line FedProx's curve must settle on.
    """
    s = clients.step(step)
    zero = np.zeros(clients.shape)
    G, Atb = clients.hessians(zero), -clients.gradients(zero)
    eye = np.eye(len(zero))
    left = (eye - np.linalg.inv(eye + s * G)).sum(axis=0)
    right = np.linalg.solve(G + eye / s, Atb[..., None])[..., 0].sum(axis=0)
    x = np.linalg.solve(left, right)
    while True:
        yield x
