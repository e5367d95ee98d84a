"""`make scaling`: processor time a round and peak memory against clients, samples and dimension.

One first-order, one second-order, one composite and one hybrid method, all clients taking part in every round, and the
first-order one again with its clients streamed under a budget. Every point is a process of its own, whose peak is
Linux's VmHWM. `--most 1000` leaves out more than so many clients, or samples each.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
CLIENTS, ROWS, D = 100, 20, 20  # unless they are what varies
AXES = {
    "clients": [{"m": m, "n": ROWS, "d": D} for m in (10, 100, 1_000, 10_000, 100_000)],
    "samples": [{"m": CLIENTS, "n": n, "d": D} for n in (10, 100, 1_000, 10_000)],
    "dimension": [{"m": CLIENTS, "n": ROWS, "d": d} for d in (10, 30, 100, 300)],
}
STREAMED = [{"m": m, "n": 50, "d": 100} for m in (1_000, 10_000, 100_000)]
MEMORY_GB = 2.0  # of the streamed clients
# At most: who holds which samples is looked up client by client, in time quadratic in their number.
HYBRID_CLIENTS = 10_000
SPENT, ROUNDS = 0.3, 30  # rounds are repeated for so many seconds, but not more often


def data(m, n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n, d))
    return X, np.where(X[..., 0] + rng.standard_normal((m, n)) > 0, 1.0, -1.0)


def fedgd(m, n, d):
    from fedrepro.federation.clients import Clients
    from fedrepro.maths.costs import LinearModels

    X, y = data(m, n, d)
    return Clients(LinearModels("logistic", X, y, np.full((m, n), 1.0 / n), 0.1)), {"step": 0.1}


def fedgd_streamed(m, n, d):
    from fedrepro.federation.streamed import StreamedClients

    class Drawn:
        def __len__(self):
            return m

        def __getitem__(self, j):
            return np.random.default_rng(j).standard_normal((n, d))

    y = np.where(np.random.default_rng(0).random((m, n)) < 0.5, 1.0, -1.0)
    clients = StreamedClients.from_arrays(
        Drawn(), y, loss="logistic", ridge=0.1, memory_gb=MEMORY_GB, reference=False
    )
    return clients, {"step": 0.1}


def giant(m, n, d):
    from fedrepro.federation.agents import Agents
    from fedrepro.maths.costs import LinearModels
    from fedrepro.maths.pooled import PooledLogistic

    X, y = data(m, n, d)
    costs = LinearModels("logistic", X, y, np.full((m, n), 1.0 / n), 0.1)
    pooled = PooledLogistic(X.reshape(-1, d), y.ravel(), np.full(m * n, 1.0 / (m * n)), 0.1)
    return Agents(costs, pooled, np.full(m, 1.0 / m)), {}


def feddualavg(m, n, d):
    from fedrepro.federation.cohorts import SampledClients, Sampling
    from fedrepro.maths.models.linear import LinearModel
    from fedrepro.maths.proxes import L1, OnBlocks

    X, y = data(m, n, d)
    model = LinearModel("logistic", X.reshape(-1, d).astype(np.float32), (y.ravel() > 0).astype(float))
    sampling = Sampling(np.arange(0, m * n + 1, n), m, 10, 1, seed=0)
    visit = sampling.visit(0)
    sampling.visit = lambda round: visit  # drawing who takes part is not the method's
    psi = OnBlocks(L1(1e-3), (slice(0, d),))  # the intercept is left alone
    return SampledClients(model, psi, sampling, np.zeros(d + 1)), {"client_rate": 1e-3}


def hyfdca(m, n, d):
    """Ten groups of n samples, each cut into m / 10 clients of d features."""
    from fedrepro.federation.hybrid import HybridClients
    from fedrepro.federation.rectangles import Rectangles

    bands = min(10, m)
    X, y = data(1, bands * n, m // bands * d)
    rows = [np.arange(b * n, (b + 1) * n) for b in range(bands)]
    columns = [np.arange(c * d, (c + 1) * d) for c in range(m // bands)]
    cut = [r for r in rows for _ in columns], [c for _ in rows for c in columns]
    return HybridClients(Rectangles(X[0], y[0], *cut, 0.01)), {"inner": n}


METHODS = {f.__name__: f for f in (fedgd, giant, feddualavg, hyfdca, fedgd_streamed)}


def memory(what: str) -> float:
    """Megabytes of this process: VmRSS now, VmHWM at most. What a parent had before it started this one is not in it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1000


def measure(method: str, m: int, n: int, d: int) -> dict:
    from fedrepro import algorithms

    function = algorithms.get(method.removesuffix("_streamed"))
    small, parameters = METHODS[method](10, 10, 10)
    next(function(small, **parameters))  # imports and compiles
    before = memory("VmRSS")
    clients, parameters = METHODS[method](m, n, d)
    rounds, times = function(clients, **parameters), []
    if m * n * d < 1e8:
        next(rounds)  # what is done once
    while not times or (sum(times) < SPENT and len(times) < ROUNDS):
        begin = time.process_time()
        next(rounds)
        times.append(time.process_time() - begin)
    return {
        "seconds": float(np.median(times)),
        "peak_mb": memory("VmHWM"),
        "own_mb": memory("VmHWM") - before,
    }


def cells(most: float):
    """(axis, method, sizes); a streamed point is on the clients' axis, with sizes of its own."""
    for (axis, sizes), method in itertools.product(AXES.items(), METHODS):
        for size in STREAMED if method == "fedgd_streamed" and axis == "clients" else sizes:
            beyond = method == "fedgd_streamed" and axis != "clients"
            beyond |= method == "hyfdca" and size["m"] > HYBRID_CLIENTS
            if not beyond and max(size["m"], size["n"]) <= most:
                yield axis, method, size


def main(given: list[str]) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=float, default=np.inf)
    parser.add_argument(
        "--folder", type=Path, default=Path(__file__).resolve().parents[1] / "results/benchmarks"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    words = parser.parse_args(given)
    if words.one:
        print(json.dumps(measure(**json.loads(words.one))))
        return
    found = []
    for axis, method, size in cells(words.most):
        command = [sys.executable, __file__, "--one", json.dumps({"method": method} | size)]
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | THREADS
        )
        found.append({"axis": axis, "method": method} | size | json.loads(done.stdout))
        print(", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{v}" if isinstance(v, str) else f"{k} {v:,}"
                        for k, v in found[-1].items()), flush=True)  # fmt: skip

    if not found:
        smallest = min(max(size["m"], size["n"]) for sizes in AXES.values() for size in sizes)
        parser.error(
            f"nothing is measured with at most {words.most:g} clients or samples; say {smallest} or more"
        )

    from measuring import keep

    from fedrepro.reporting import benchmarks

    keep(found, words.folder / "scaling.csv", benchmarks.scaling)


if __name__ == "__main__":
    main(sys.argv[1:])
