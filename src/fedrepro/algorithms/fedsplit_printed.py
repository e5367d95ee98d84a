"""FedSplit with a formula taken to the letter where the paper has a slip: kept to show what the slip does."""

from typing import Literal

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count
from fedrepro.maths.steps import Step


@algorithm(needs={"gradient", "prox"})
def fedsplit_printed(
    clients, *, slip: Literal["eq13", "eq17"] = "eq13", step: Step = "1/sqrt(l*L*)", local_steps: Count = 10
):
    """`eq13`: the prox is taken at x − z_j, as printed in eq. (13), where Algorithm 1 has 2x − z_j.

    `eq17`: gradient steps u ← u − αs∇f_j(u) + (u − v), as printed in eq. (17), where the gradient of the
    proximal objective gives u − α(s∇f_j(u) + (u − v)).
    """
    s = clients.step(step)
    alpha = 1.0 / (1.0 + s * (clients.constants["l*"] + clients.constants["L*"]) / 2.0)
    x = clients.start
    z = clients.stack(x)
    while True:
        clients.receive(x)
        if slip == "eq13":
            half = clients.prox(x - z, s)
        else:
            v = half = 2 * x - z
            for _ in range(local_steps):
                half = half - alpha * s * clients.gradients(half) + (half - v)
        z = z + 2 * (half - x)
        x = clients.average(z)
        yield x
