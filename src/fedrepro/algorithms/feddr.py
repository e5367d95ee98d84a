"""FedDR: randomised Douglas–Rachford splitting for composite problems. Tran-Dinh et al. 2021, Algorithm 1."""

from typing import Annotated

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Bounds, Positive

Relaxation = Annotated[float, Bounds(0, 2, "()")]


@algorithm(needs={"cohort"})
def feddr(clients, *, eta: Positive, client_rate: Positive, alpha: Relaxation = 1.0):
    """y_i ← y_i + α(x̄ − x_i); x_i ≈ prox_{ηf_i}(y_i); x̂_i = 2x_i − y_i; the server takes x̄ = prox_{ηψ} of the mean x̂_i.

    The local prox is as many gradient steps as a round has batches, from the last x_i, of length 1/(1/r + 1/η) with
    r = `client_rate`. Clients who are absent keep what they have. All start at x_i = y_i = x̂_i = x⁰, with which the
    server's x̃ is the mean of the x̂_i from the beginning. Means are weighted by examples.
    """
    h = clients.mirror("euclidean")
    w = clients.start
    y = np.repeat(w[None], clients.m, axis=0)
    x, ahead, middle = y.copy(), y.copy(), w  # x_i, x̂_i and x̃
    sizes = np.diff(clients.sampling.offsets)
    length = 1.0 / (1.0 / client_rate + 1.0 / eta)

    def step(state, gradient, primal, k):
        u, centre = state
        return np.stack([u - length * (gradient(u) + (u - centre) / eta), centre])

    while True:
        cohort = clients.sample()
        cohort.receive(w)
        who = cohort.clients
        y[who] += alpha * (w - x[who])
        x[who] = cohort.local_steps(np.stack([x[who], y[who]], axis=1), step, h)[:, 0]
        change = 2 * x[who] - y[who] - ahead[who]
        ahead[who] += change
        middle = middle + sizes[who].sum() / sizes.sum() * cohort.average(change)
        w = h.primal(middle, eta)
        yield w
