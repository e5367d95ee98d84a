"""FedSplit with proximal errors of a known size. Pathak & Wainwright 2020, Algorithm 1 under condition (15)."""

from typing import Literal

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Positive
from fedrepro.maths.seeds import stream
from fedrepro.maths.steps import Step


@algorithm(needs={"prox", "hessian"})  # clients whose points are kept in full
def fedsplit_perturbed(
    clients, *, error: Positive, direction: Literal["random", "same"] = "random", step: Step = "1/sqrt(l*L*)"
):
    """Every exact prox is moved by a vector of length `error` = b: in a `random` direction, drawn anew, or in the `same`
    one for all clients and rounds, which adds up. Not a method a federation would run: it tries Theorem 1's bound."""
    s = clients.step(step)
    x = clients.start
    z = clients.stack(x)
    half, rng = z, stream(0, "perturbation")
    fixed = rng.standard_normal(x.shape)
    while True:
        clients.receive(x)
        half = clients.prox(2 * x - z, s, start=half)
        away = rng.standard_normal(half.shape) if direction == "random" else clients.stack(fixed)
        off = half + error * away / np.linalg.norm(away, axis=1, keepdims=True)
        z = z + 2 * (off - x)  # local centering step
        x = clients.average(z)
        yield x
