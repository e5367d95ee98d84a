"""FedSplit: Peaceman–Rachford splitting. Pathak & Wainwright 2020, Algorithm 1."""

from typing import Literal

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count, Positive
from fedrepro.maths.steps import Step


@algorithm(needs={"prox"})
def fedsplit(
    clients,
    *,
    step: Step = "1/sqrt(l*L*)",
    prox: Count | Literal["exact", "accelerated"] = "exact",
    prox_start: Literal["point", "last"] = "point",
    tolerance: Positive = 1e-8,
):
    """`prox` is how prox_update_j solves its subproblem: `exact`, a number e of gradient steps (Corollary 1)
    or `accelerated` until the gradient is below `tolerance` (footnote 4).

    `prox_start` is where an inexact solver begins: at the `point` 2x − z_j itself, as printed, or at the
    `last` solution, the "previous iterate" of Corollary 1's wording.
    """
    s = clients.step(step)
    x = clients.start
    z = clients.stack(x)
    half = z
    while True:
        clients.receive(x)
        v = 2 * x - z
        if prox == "exact":
            half = clients.prox(v, s, start=half)
        elif prox == "accelerated":
            half = clients.prox_by_acceleration(v, s, tolerance, start=half)
        else:
            half = clients.prox_by_gradient(v, s, prox, start=v if prox_start == "point" else half)
        z = z + 2 * (half - x)  # local centering step
        x = clients.average(z)
        yield x
