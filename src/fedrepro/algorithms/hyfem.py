"""HyFEM for linear models, our reduction of Zhang, Yin, Hong & Chen 2020."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count, NonNegative, Positive
from fedrepro.maths.kernels import scatter
from fedrepro.maths.kernels.local_sgd import descend


@algorithm(needs={"rectangles"})
def hyfem(clients, *, local_steps: Count, a: Positive, b: NonNegative, mu: NonNegative):
    """HyFEM lets every client keep a model of its own and matches its feature extractor to the server's. Overman
    et al. do not say what it becomes for a linear model; ours: client k keeps w_k, takes stochastic gradient steps
    on its local cost + μ/2 ‖w_k − w_0,k‖², where w_0,k are the server's weights of its features, and the server,
    minimising the same matching terms over w_0, averages the last w_k of all clients that hold a feature. The rate
    is a/(b + √t), as for FedAvg."""
    count = np.zeros_like(clients.server.w)
    for client in clients.data.clients:
        count[client.columns] += 1.0
    shared = [count[client.columns] for client in clients.data.clients]  # by how many, each of its features
    local = [np.zeros(len(client.columns)) for client in clients.data.clients]
    w, t = clients.server.w, 0
    while True:
        t += 1
        present, _ = clients.available()
        clients.send_weights(present)
        before = {k: local[k].copy() for k in present}
        for k in present:
            own = clients.data.clients[k]
            order = clients.draw(k, local_steps)
            descend(own.X, own.y, local[k], clients.w[k], order, a / (b + np.sqrt(t)), clients.data.lam, mu)
        clients.collect_weights({k: local[k] for k in present})
        w = w.copy()
        for k in present:
            scatter.replace(w, clients.data.clients[k].columns, before[k], local[k], shared[k])
        clients.server.w = w
        yield w
