"""What advancing all grid points together saves, against the same runs one by one. Ratios of processor time."""

import time

import numpy as np
from threadpoolctl import threadpool_limits

from fedrepro.algorithms.disco import disco
from fedrepro.algorithms.fedhybrid import fedhybrid
from fedrepro.federation.primal_dual import HybridClients
from fedrepro.papers.fedhybrid import problems

POINTS, ROUNDS = 64, 10
SQUARES = {"n": 20, "d": 30, "sigma": 0.5, "rho": 0.01}
LOGISTIC = {"n": 20, "d": 30, "rho": 0.1}


def clock(function) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def compare(name, problem, method, fixed, target) -> dict:
    ref = problem.reference()
    grid = {"mu": np.geomspace(0.01, 1.0, POINTS)}
    if method is fedhybrid:
        grid |= {"a": np.geomspace(1e-3, 1e-2, POINTS), "newton_b": np.geomspace(1e-3, 1e-1, POINTS)}

    def advance(costs, kind, shape, params):
        run = method(HybridClients(costs, np.zeros(shape, kind), ref), **fixed, **params)
        for _ in range(ROUNDS):
            next(run)

    rough = problem.costs.single()
    kind = np.float64 if rough is problem.costs else np.float32
    d = problem.costs.shape[0]

    def together():
        advance(rough, kind, (d, POINTS), {k: v.astype(kind) for k, v in grid.items()})

    def apart():
        for j in range(POINTS):
            advance(problem.costs, np.float64, (d,), {k: float(v[j]) for k, v in grid.items()})

    together()  # outer products and factorisations are made once and kept
    ours, plain = clock(together), clock(apart)
    times = {"ours": f"{ours:.3f} s", "plain": f"{plain:.3f} s"}
    return {"name": name, "ratio": plain / ours, "target": target} | times


def run() -> list[dict]:
    with threadpool_limits(1):
        squares = problems.synthetic_least_squares(SQUARES, 0)
        logistic = problems.synthetic_logistic(LOGISTIC, 0)
        mixed = {"newton": "half", "b": 0.01}
        return [
            compare("fedhybrid: grid search, least squares", squares, fedhybrid, mixed, 3.0),
            compare("fedhybrid: grid search, logistic", logistic, fedhybrid, mixed, 2.0),
            compare("fedhybrid: DiSCO's grid search, logistic", logistic, disco, {}, 2.0),
        ]
