"""FedProx, deterministic: averaged proximal steps. Pathak & Wainwright 2020, eq. (6)."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.steps import Step


@algorithm(needs={"prox"})
def fedprox(clients, *, step: Step = "1/sqrt(l*L*)"):
    """Each client takes a proximal step of size s = `step`; the server averages.

    Its fixed points are zeros of the summed gradients of the Moreau envelopes, eq. (7).
    """
    s = clients.step(step)
    x = clients.start
    local = None
    while True:
        clients.receive(x)
        local = clients.prox(clients.stack(x), s, start=local)  # eq. (6a)
        x = clients.average(local)  # eq. (6b)
        yield x
