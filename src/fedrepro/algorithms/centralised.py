"""Proximal gradient descent on all examples gathered in one place. Yuan, Zaheer & Reddi 2021, eq. (2.1), B.4.1."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Positive


@algorithm(needs={"gathered"})
def centralised(clients, *, rate: Positive):
    """A baseline that does not federate: one full gradient and one proximal step an epoch."""
    h = clients.mirror("euclidean")
    w = clients.start
    while True:
        w = h.primal(w - rate * clients.full_gradient(w), rate)
        yield w
