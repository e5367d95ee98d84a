"""FedAvg for logistic regression: a round beside a straightforward NumPy loop, in the same run.

64 clients x 128 examples x 1,024 features, 10 clients a round, batches of 10, one epoch.
"""

import numpy as np
from measuring import line, reading, seconds
from threadpoolctl import threadpool_limits

from fedrepro import algorithms
from fedrepro.federation.cohorts import SampledClients, Sampling
from fedrepro.maths.models.linear import LinearModel
from fedrepro.maths.proxes import Zero

M, N, D, COHORT, BATCH = 64, 128, 1024, 10, 10
RATE = 0.01


def problem(dtype=np.float32):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((M * N, D), dtype=np.float32).astype(dtype)
    y = (X[:, :32].sum(axis=1) + rng.standard_normal(M * N) > 0).astype(float)
    return X, y, Sampling(np.arange(0, M * N + 1, N), COHORT, BATCH, 1, seed=0)


def plain_round(w, X, y, visit):
    """One round as one would write it in NumPy: a loop over clients and batches, the same clients and batches."""
    total = np.zeros_like(w)
    for rows, length in zip(visit.rows, visit.lengths, strict=True):
        local = w.copy()
        for low in range(0, length, BATCH):
            batch = rows[low : low + BATCH]
            A = X[batch]
            slope = 1.0 / (1.0 + np.exp(-(A @ local[:-1] + local[-1]))) - y[batch]
            local[:-1] -= RATE * (A.T @ slope) / len(batch)
            local[-1] -= RATE * slope.mean()
        total += local - w
    return w + total / COHORT


def run(small: bool) -> list[dict]:
    repeat = 2 if small else 100
    with threadpool_limits(1):
        X, y, sampling = problem()
        model = LinearModel("logistic", X, y)
        for round in range(400):
            sampling.visit(round)  # both sides are given the same draws, made beforehand
        clients = SampledClients(model, Zero(), sampling, np.zeros(D + 1))
        generator = algorithms.get("fedavg")(clients, client_rate=RATE, server_rate=1.0)
        ours_point = next(generator)
        plain_point = plain_round(np.zeros(D + 1), X.astype(float), y, sampling.visit(0))
        np.testing.assert_allclose(ours_point, plain_point, atol=1e-9)
        ours = seconds(lambda: next(generator), repeat)
        bound = reading(X.nbytes) * COHORT / M
        rows = []
        for name, data in (("float64", X.astype(float)), ("float32", X)):
            state = {"w": np.zeros(D + 1, data.dtype), "round": 0}

            def step(state=state, data=data):
                state["w"] = plain_round(
                    state["w"], data, y.astype(data.dtype), sampling.visit(state["round"] % 400)
                )
                state["round"] += 1

            words = f"FedAvg, logistic, a round (NumPy in {name})"
            rows.append(line(words, ours, seconds(step, repeat // 2), bound, "reading the cohort's rows"))
    return rows
