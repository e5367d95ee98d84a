"""Federated mirror descent, only server proximal. Yuan, Zaheer & Reddi 2021, Algorithm 4."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Positive
from fedrepro.maths.mirrors import Mirror


@algorithm(needs={"cohort"})
def fedmid_osp(clients, *, client_rate: Positive, server_rate: Positive = 1.0, mirror: Mirror = "euclidean"):
    """Algorithm 2 whose clients skip the proximal operation."""
    h = clients.mirror(mirror)
    w = clients.start
    while True:
        cohort = clients.sample()
        cohort.receive(w)
        local = cohort.mirror_descent(w, client_rate, h.smooth)  # lines 6–8
        change = cohort.average(local - w)  # line 9
        w = h.primal(h.dual(w) + server_rate * change, server_rate * client_rate * cohort.K)  # line 10
        yield w
