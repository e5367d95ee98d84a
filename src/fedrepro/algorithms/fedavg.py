"""FedAvg with separate client and server rates. Yuan, Zaheer & Reddi 2021, Algorithm 1."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Positive


@algorithm(needs={"cohort"})
def fedavg(clients, *, client_rate: Positive, server_rate: Positive = 1.0):
    """Local SGD; the server moves along the averaged change. It knows nothing of ψ."""
    h = clients.mirror("euclidean").smooth
    w = clients.start
    while True:
        cohort = clients.sample()
        cohort.receive(w)
        local = cohort.mirror_descent(w, client_rate, h)  # lines 6–8
        w = w + server_rate * cohort.average(local - w)  # lines 9–10
        yield w
