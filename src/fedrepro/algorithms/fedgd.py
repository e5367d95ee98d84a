"""FedGD(s, e): deterministic FedAvg. Pathak & Wainwright 2020, eqs. (3)–(4)."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count
from fedrepro.maths.steps import Step


@algorithm(needs={"gradient"})
def fedgd(clients, *, step: Step = "1/L*", local_steps: Count = 1):
    """Each client takes e = `local_steps` gradient steps of size s = `step`; the server averages.

    Its fixed points solve eq. (5), which is the optimality condition only for e = 1.
    """
    s = clients.step(step)
    x = clients.start
    while True:
        clients.receive(x)
        local = clients.stack(x)
        for _ in range(local_steps):
            local = local - s * clients.gradients(local)  # G_j, eq. (3)
        x = clients.average(local)  # eq. (4b)
        yield x
