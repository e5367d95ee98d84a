"""FedGD and FedSplit rounds on figure 3's problem: stacked clients against a loop over them."""

from functools import partial

import numpy as np
from measuring import line, reading, seconds

from fedrepro.algorithms.fedgd import fedgd
from fedrepro.algorithms.fedsplit import fedsplit
from fedrepro.experiments import problem as problems

SETTING = {"m": 10, "d": 100, "n": 400, "sigma2": 1.0, "kappa": 1000.0}


def rows_and_gram():
    """The same problem once as rows of data, as a first implementation would hold it."""
    problem = problems.get("fedsplit.conditioned_least_squares")(SETTING, 0)
    rng = np.random.default_rng(0)
    A = [np.linalg.qr(rng.standard_normal((SETTING["n"], SETTING["d"])))[0] for _ in range(SETTING["m"])]
    A = [a @ np.linalg.cholesky(G).T for a, G in zip(A, problem.costs.G, strict=True)]
    b = [np.linalg.lstsq(a.T, c, rcond=None)[0] for a, c in zip(A, problem.costs.c, strict=True)]
    return problem, A, b


def plain_fedgd(A, b, step):
    x = np.zeros(A[0].shape[1])
    while True:
        x = np.mean([x - step * (a.T @ (a @ x - r)) for a, r in zip(A, b, strict=True)], axis=0)
        yield x


def plain_fedsplit(A, b, step):
    d = A[0].shape[1]
    z = [np.zeros(d) for _ in A]
    x = np.zeros(d)
    while True:
        for j, (a, r) in enumerate(zip(A, b, strict=True)):
            half = np.linalg.solve(np.eye(d) + step * a.T @ a, 2 * x - z[j] + step * a.T @ r)
            z[j] = z[j] + 2 * (half - x)
        x = np.mean(z, axis=0)
        yield x


def run(small: bool) -> list[dict]:
    problem, A, b = rows_and_gram()
    ref = problem.reference()
    rows = []
    for name, ours, plain, n, few in (
        ("FedGD", fedgd(problem.clients(ref), step=1e-3), plain_fedgd(A, b, 1e-3), 700, 70),
        ("FedSplit", fedsplit(problem.clients(ref), step=0.03), plain_fedsplit(A, b, 0.03), 200, 7),
    ):
        next(ours)  # factorisations and caches
        fast = seconds(partial(next, ours), 2 if small else n)
        slow = seconds(partial(next, plain), 1 if small else few)
        words = f"{name}, least squares, 10 clients x 400 x 100, a round"
        rows.append(line(words, fast, slow, reading(problem.costs.G.nbytes), "reading the Gram matrices"))
    return rows
