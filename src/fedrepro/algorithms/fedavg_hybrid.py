"""FedAvg carried over to hybrid data. Overman, Blum & Klabjan 2023, section 2 and 5.1."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count, NonNegative, Positive
from fedrepro.maths.kernels import scatter
from fedrepro.maths.kernels.local_sgd import descend


@algorithm(needs={"rectangles"})
def fedavg_hybrid(clients, *, local_steps: Count, a: Positive, b: NonNegative):
    """Every client takes stochastic gradient steps on its own rectangle, predicting from its own features; the
    server puts the weights side by side and averages where several clients that took part hold a feature. The rate
    is a/(b + √t) in round t."""
    w, t = clients.server.w, 0
    total, count = np.zeros_like(w), np.zeros(len(w), np.uint16)
    while True:
        t += 1
        present, _ = clients.available()
        clients.send_weights(present)
        for k in present:
            own, mine = clients.data.clients[k], clients.w[k]
            order = clients.draw(k, local_steps)
            descend(own.X, own.y, mine, mine, order, a / (b + np.sqrt(t)), clients.data.lam, 0.0)
        clients.collect_weights({k: clients.w[k] for k in present})
        for k in present:
            scatter.add(total, clients.data.clients[k].columns, clients.w[k], count)
        w = clients.server.w = scatter.average(w, total, count)
        yield w
