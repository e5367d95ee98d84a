"""Composite federated learning with proximal steps decoupled from communication. Zhang, Hu & Johansson 2023, Algorithm 1."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Positive


@algorithm(needs={"cohort"})
def decoupled(clients, *, client_rate: Positive, server_rate: Positive = 1.0):
    """Clients move ẑ_i before the proximal step and read gradients at z_i after it:
    ẑ ← ẑ − η(∇f_i(z) + c_i), z = prox_{(t+1)ηψ}(ẑ), from ẑ = z = P(x̄), P = prox_{η̃ψ}, η̃ = η η_g τ.
    The server keeps x̄ ← P(x̄) + η_g(mean ẑ_i − P(x̄)); the correction c_i = (P(x̄) − x̄⁺)/η̃ − mean_t ∇f_i(z_t) is
    each client's own to compute, so that d floats travel either way. With full gradients its fixed point is
    argmin f + ψ, whatever τ. The paper has everybody take part; clients who do not keep their c_i here.
    """
    h = clients.mirror("euclidean")
    bar = clients.start
    control = np.zeros((clients.m, bar.size))
    width = 0.0  # η̃: x̄⁰ is a point already
    while True:
        cohort = clients.sample()
        cohort.receive(bar)
        base = h.primal(bar, width)
        width = client_rate * server_rate * cohort.K

        def step(state, gradient, primal, k):
            ahead, z, slopes, c = state
            g = gradient(z)
            ahead = ahead - client_rate * (g + c)
            return np.stack([ahead, primal(ahead, (k + 1) * client_rate), slopes + g, c])

        who = cohort.clients
        states = cohort.stack(np.stack([base, base, 0 * base, 0 * base]))
        states[:, 3] = control[who]
        states = cohort.local_steps(states, step, h)
        bar = base + server_rate * cohort.average(states[:, 0] - base)
        control[who] = (base - bar) / width - states[:, 2] / cohort.steps[:, None]
        yield h.primal(bar, width)
