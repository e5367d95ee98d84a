"""Speed of the composite algorithms at the paper's sizes: a round beside plain NumPy loops in the same run, and beside
what reading the examples once, or the products of a network, would take."""

from functools import partial

import numpy as np
from measuring import line, multiplying, reading, seconds
from threadpoolctl import threadpool_limits

from fedrepro import algorithms
from fedrepro.federation.cohorts import SampledClients, Sampling
from fedrepro.maths.kernels.linear import LAZY, walk_plain
from fedrepro.maths.mirrors import Euclidean
from fedrepro.maths.models.images import Dense
from fedrepro.maths.models.linear import LinearModel
from fedrepro.maths.models.network import Network
from fedrepro.maths.proxes import L1, L1Ball, Nuclear, OnBlocks


def linear(m, n, d, psi, loss):
    """Clients with n examples of d features; ψ leaves the intercept alone."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m * n, d), dtype=np.float32)
    y = X[:, :8].sum(axis=1).astype(float)
    model = LinearModel(loss, X, y if loss == "squared" else (y > 0).astype(float))
    return model, OnBlocks(psi, (slice(0, d),)), np.zeros(d + 1)


def images(m, n, sizes, precision):
    """Clients with n pictures, a fifth of whose pixels are not zero; every kernel in the l1 ball of the paper."""
    rng = np.random.default_rng(0)
    X = (rng.random((m * n, sizes[0])) * (rng.random((m * n, sizes[0])) < 0.2)).astype(precision)
    model = (Network if len(sizes) > 2 else Dense)(X, rng.integers(0, sizes[-1], m * n), sizes)
    start = 0.04 * rng.standard_normal(model.size, dtype=precision)
    return model, OnBlocks(L1Ball(1000.0), model.kernels), start


CASES = (  # name, problem, clients, examples each, cohort, batch, epochs, client rate
    ("LASSO", partial(linear, d=1024, psi=L1(0.1), loss="squared"), 64, 128, 10, 10, 1, 1e-4),
    ("low rank", partial(linear, d=1024, psi=Nuclear(0.5, (32, 32)), loss="squared"), 64, 128, 10, 10, 1, 1e-4),
    ("fMRI", partial(linear, d=39912, psi=L1(1e-3), loss="logistic"), 59, 18, 20, 1, 1, 1e-3),
    ("digits", partial(images, sizes=(784, 10), precision=np.float32), 539, 111, 10, 10, 10, 0.1),
    ("network", partial(images, sizes=(784, 200, 200, 10), precision=np.float32), 539, 11, 10, 10, 10, 0.1),
)  # fmt: skip


def run(small: bool) -> list[dict]:
    found = []
    with threadpool_limits(1):
        for name, problem, m, n, cohort, batch, epochs, rate in CASES[:1] if small else CASES:
            model, psi, start = problem(m, n)
            sampling = Sampling(np.arange(0, m * n + 1, n), cohort, batch, epochs, seed=0)
            for round in range(100):
                sampling.visit(round)  # both sides are given the same draws, made beforehand
            clients = SampledClients(model, psi, sampling, start)
            generator = algorithms.get("feddualavg")(clients, client_rate=rate, server_rate=1.0)
            next(generator)
            visit, out = sampling.visit(0), np.empty((cohort, model.size), start.dtype)
            walk = (
                model.gradient,
                Euclidean(psi),
                LAZY,
                visit.rows,
                visit.lengths,
                batch,
                start,
                rate,
                0.1,
                out,
            )
            ours = seconds(partial(next, generator), 1 if small else 10)
            plain = seconds(partial(walk_plain, *walk), 1 if small else 2)
            visited = epochs * cohort * n
            if name == "network":
                bound, of = visited / batch * multiplying(batch, model.sizes), "its products, by sgemm"
            else:
                bound, of = reading(model.X.nbytes) * visited / (m * n), "reading the cohort's rows"
            found.append(line(f"FedDualAvg, {name}, a round", ours, plain, bound, of))
    return found
