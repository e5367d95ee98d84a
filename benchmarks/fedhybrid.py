"""What advancing all grid points together saves, against the same runs one by one. Ratios of processor time."""

import numpy as np
from measuring import line, reading, seconds
from threadpoolctl import threadpool_limits

from fedrepro.algorithms.disco import disco
from fedrepro.algorithms.fedhybrid import fedhybrid
from fedrepro.federation.primal_dual import PrimalDualClients
from fedrepro.papers.fedhybrid import problems

ROUNDS = 10
SQUARES = {"n": 20, "d": 30, "sigma": 0.5, "rho": 0.01}
LOGISTIC = {"n": 20, "d": 30, "rho": 0.1}


def compare(name, problem, method, fixed, points) -> dict:
    ref = problem.reference()
    grid = {"mu": np.geomspace(0.01, 1.0, points)}
    if method is fedhybrid:
        grid |= {"a": np.geomspace(1e-3, 1e-2, points), "newton_b": np.geomspace(1e-3, 1e-1, points)}

    costs, d = problem.costs, problem.costs.shape[0]

    def advance(shape, params):
        run = method(PrimalDualClients(costs, np.zeros(shape), ref.constants), **fixed, **params)
        for _ in range(ROUNDS):
            next(run)

    def together():
        advance((d, points), grid)

    def apart():
        for j in range(points):
            advance((d,), {k: float(v[j]) for k, v in grid.items()})

    together()  # outer products and factorisations are made once and kept
    data = costs.G if hasattr(costs, "G") else costs.rows
    bound = ROUNDS * reading(data.nbytes)
    return line(name, seconds(together), seconds(apart, best_of=1), bound, "reading the data every round")


def run(small: bool) -> list[dict]:
    points = 2 if small else 64
    with threadpool_limits(1):
        squares = problems.synthetic_least_squares(SQUARES, 0)
        logistic = problems.synthetic_logistic(LOGISTIC, 0)
        mixed, words = {"newton": "half", "b": 0.01}, f"{points} grid points, {ROUNDS} rounds"
        return [
            compare(f"FedHybrid, least squares, {words}", squares, fedhybrid, mixed, points),
            compare(f"FedHybrid, logistic, {words}", logistic, fedhybrid, mixed, points),
            compare(f"DiSCO, logistic, {words}", logistic, disco, {}, points),
        ]
