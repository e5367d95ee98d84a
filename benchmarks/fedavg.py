"""FedAvg for logistic regression: our rounds per second beside a straightforward NumPy loop, in the same run.

64 clients x 128 examples x 1,024 features, 10 clients a round, batches of 10, one epoch.
"""

import time

import numpy as np
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


def seconds(step, rounds):
    """Processor time per round, the best of three timings: on one thread it is the clock's, less other people's work."""
    best = np.inf
    for _ in range(3):
        begin = time.process_time()
        for _ in range(rounds):
            step()
        best = min(best, (time.process_time() - begin) / rounds)
    return best


def read_speed(array) -> float:
    """Bytes per second of one pass over an array far larger than the caches: the bound nobody can beat."""
    return array.nbytes / seconds(lambda: array.sum(), 2)


def run() -> list[dict]:
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
        ours = 1.0 / seconds(lambda: next(generator), 100)
        rows = []
        for name, data in (("float64", X.astype(float)), ("float32", X)):
            state = {"w": np.zeros(D + 1, data.dtype), "round": 0}

            def step(state=state, data=data):
                state["w"] = plain_round(
                    state["w"], data, y.astype(data.dtype), sampling.visit(state["round"] % 400)
                )
                state["round"] += 1

            plain = 1.0 / seconds(step, 30)
            rows.append({"name": f"FedAvg logistic, rounds/s (NumPy in {name})", "ours": f"{ours:.0f}", "plain": f"{plain:.0f}",
                         "ratio": ours / plain, "target": 4.0})  # fmt: skip
        bound = read_speed(np.ones(50_000_000)) / (COHORT * N * D * X.itemsize)
        rows.append({"name": "FedAvg logistic, share of the memory-bandwidth bound", "ours": f"{ours:.0f}", "plain": f"{bound:.0f}",
                     "ratio": ours / bound, "target": None})  # fmt: skip
    return rows
