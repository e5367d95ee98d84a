"""Federated mirror descent that regularises once. Yuan, Zaheer & Reddi 2021, Algorithm 2, its proximal steps halved."""

from fedrepro.algorithms import algorithm

HALF = 0.5  # of ψ for the clients' proximal steps, the other half for the server's


@algorithm(needs={"cohort"})
def fedmid_once(clients, *, client_rate, server_rate=1.0, mirror="euclidean"):
    """Algorithm 2 as printed applies ψ twice over: K client steps of size η_c and a server step of size η_s η_c K. With
    one local step, everybody present and full gradients its fixed point is argmin F + 2ψ. Here clients and server
    take half of ψ each, and that fixed point is argmin F + ψ."""
    h = clients.mirror(mirror).weighted(HALF)
    w = clients.start
    while True:
        cohort = clients.sample()
        cohort.receive(w)
        local = cohort.mirror_descent(w, client_rate, h)  # lines 6–8
        change = cohort.average(local - w)  # line 9
        w = h.primal(h.dual(w) + server_rate * change, server_rate * client_rate * cohort.K)  # line 10
        yield w
