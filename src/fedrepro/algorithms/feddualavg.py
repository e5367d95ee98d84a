"""Federated dual averaging. Yuan, Zaheer & Reddi 2021, Algorithm 3."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Positive
from fedrepro.maths.mirrors import Mirror


@algorithm(needs={"cohort"})
def feddualavg(clients, *, client_rate: Positive, server_rate: Positive = 1.0, mirror: Mirror = "euclidean"):
    """Clients and server keep dual states, which are what is averaged; the primal point is looked up."""
    h = clients.mirror(mirror)
    z = h.dual(clients.start)  # line 2
    shrink = 0.0  # η_s η_c r K
    while True:
        cohort = clients.sample()
        cohort.receive(z)
        local = cohort.dual_averaging(z, client_rate, shrink, h)  # lines 7–11
        z = z + server_rate * cohort.average(local - z)  # lines 12–13
        shrink += server_rate * client_rate * cohort.K
        yield h.primal(z, shrink)  # line 14
