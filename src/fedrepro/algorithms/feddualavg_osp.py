"""Federated dual averaging, only server proximal. Yuan, Zaheer & Reddi 2021, Algorithm 5."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Positive
from fedrepro.maths.mirrors import Mirror


@algorithm(needs={"cohort"})
def feddualavg_osp(
    clients, *, client_rate: Positive, server_rate: Positive = 1.0, mirror: Mirror = "euclidean"
):
    """Algorithm 3 whose clients skip the proximal operation."""
    h = clients.mirror(mirror)
    z = h.dual(clients.start)  # line 2
    shrink = 0.0  # η_s η_c r K
    while True:
        cohort = clients.sample()
        cohort.receive(z)
        local = cohort.dual_averaging(z, client_rate, shrink, h.smooth)  # lines 7–10
        z = z + server_rate * cohort.average(local - z)  # lines 11–12
        shrink += server_rate * client_rate * cohort.K
        yield h.primal(z, shrink)  # line 13
