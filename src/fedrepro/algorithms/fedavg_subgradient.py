"""FedAvg with a subgradient of ψ added to every local gradient. Yuan, Zaheer & Reddi 2021, sections 1 and 3."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Positive


@algorithm(needs={"cohort"})
def fedavg_subgradient(clients, *, client_rate: Positive, server_rate: Positive = 1.0):
    """Algorithm 1 with g + ψ'(w) in place of g: the paper's FedAvg(∂)."""
    h = clients.mirror("euclidean")
    w = clients.start
    while True:
        cohort = clients.sample()
        cohort.receive(w)
        local = cohort.subgradient_descent(w, client_rate, h)
        w = w + server_rate * cohort.average(local - w)
        yield w
