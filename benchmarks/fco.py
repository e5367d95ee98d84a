"""Speed of the composite algorithms at the paper's sizes, as seconds a configuration and ratios to plain loops."""

from functools import partial

import numpy as np
from fedavg import seconds
from threadpoolctl import threadpool_limits

from fedrepro import algorithms
from fedrepro.cohorts import SampledClients, Sampling
from fedrepro.kernels.linear import LAZY, walk_plain
from fedrepro.mirrors import Euclidean
from fedrepro.models.linear import LinearModel
from fedrepro.proxes import L1, Nuclear, OnBlocks

CASES = (  # name, clients, examples each, features, cohort, batch, ψ, loss, rate, rounds of one configuration, target
    ("LASSO, 500 rounds", 64, 128, 1024, 10, 10, L1(0.1), "squared", 1e-4, 500, 1.0),
    ("low rank, 500 rounds", 64, 128, 1024, 10, 10, Nuclear(0.5, (32, 32)), "squared", 1e-4, 500, None),
    ("fMRI, 300 rounds", 59, 18, 39912, 20, 1, L1(1e-3), "logistic", 1e-3, 300, 12.0),
)


def run() -> list[dict]:
    found = []
    with threadpool_limits(1):
        for name, m, n, d, cohort, batch, psi, loss, rate, rounds, target in CASES:
            rng = np.random.default_rng(0)
            X = rng.standard_normal((m * n, d), dtype=np.float32)
            y = X[:, :8].sum(axis=1).astype(float)
            model = LinearModel(loss, X, y if loss == "squared" else (y > 0).astype(float))
            penalty = OnBlocks(psi, (slice(0, d),))
            sampling = Sampling(np.arange(0, m * n + 1, n), cohort, batch, 1, seed=0)
            clients = SampledClients(model, penalty, sampling, np.zeros(d + 1))
            generator = algorithms.get("feddualavg")(clients, client_rate=rate, server_rate=1.0)
            count = 10 if isinstance(psi, Nuclear) else 30
            ours = seconds(partial(next, generator), count)
            visit, mirror, out = sampling.visit(0), Euclidean(penalty), np.empty((cohort, d + 1))

            def plain_step(model=model, mirror=mirror, visit=visit, batch=batch, d=d, rate=rate, out=out):
                walk_plain(
                    model.gradient,
                    mirror,
                    LAZY,
                    visit.rows,
                    visit.lengths,
                    batch,
                    np.zeros(d + 1),
                    rate,
                    0.1,
                    out,
                )

            plain = seconds(plain_step, 3)
            found.append({"name": f"{name}, seconds a configuration", "ours": f"{ours * rounds:.2f}", "plain": f"{plain * rounds:.2f}",
                          "ratio": plain / ours, "target": target})  # fmt: skip
    return found
