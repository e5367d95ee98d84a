"""Proximal gradient descent on one client's examples alone. Yuan, Zaheer & Reddi 2021, B.4.1."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Natural, Positive


@algorithm(needs={"gathered"})
def local(clients, *, rate: Positive, client: Natural = 0):
    """A baseline that never communicates: what a client gets by itself."""
    h = clients.mirror("euclidean")
    w = clients.start
    while True:
        w = h.primal(w - rate * clients.full_gradient(w, client), rate)
        yield w
