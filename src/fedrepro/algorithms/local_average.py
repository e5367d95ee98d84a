"""Every client works alone and the server averages once. Yuan, Zaheer & Reddi 2021, section 3.2, Figure 2."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count, Positive


@algorithm(needs={"gathered"})
def local_average(clients, *, rate: Positive, members: Count = 10, dual: bool = False):
    """What the server would hold if it averaged the clients now: their models, or (`dual`) their dual states.

    Clients run proximal gradient descent, or dual averaging, on their own examples. Not a method a federation
    would run: it draws the curse of primal averaging and its absence in the dual space.
    """
    h = clients.mirror("euclidean")
    members = min(members, clients.m)
    states = np.repeat(clients.start[None], members, axis=0)
    t = 0
    while True:
        for m in range(members):
            if dual:
                states[m] -= rate * clients.full_gradient(h.primal(states[m], rate * t), m)
            else:
                states[m] = h.primal(states[m] - rate * clients.full_gradient(states[m], m), rate)
        t += 1
        average = states.mean(axis=0)
        yield h.primal(average, rate * t) if dual else average
