"""Small synthetic federations with agents of unequal sizes."""

import numpy as np

from fedrepro.papers.shed.problems import logistic_federation, quadratic_federation

SIZES = (30, 45, 60, 25)


def designs(n, sizes, seed):
    rng = np.random.default_rng(seed)
    scale = np.geomspace(1.0, 0.1, n)
    return rng, [rng.standard_normal((s, n)) * scale + 0.2 * rng.standard_normal(n) for s in sizes]


def quadratic(n=12, sizes=SIZES, mu=1e-3, seed=0):
    rng, matrices = designs(n, sizes, seed)
    theta = rng.standard_normal(n)
    responses = [a @ theta + 0.1 * rng.standard_normal(len(a)) for a in matrices]
    return quadratic_federation(matrices, responses, mu, seed)


def logistic(n=8, sizes=SIZES, mu=1e-2, seed=0):
    rng, matrices = designs(n, sizes, seed)
    X = np.concatenate(matrices)
    b = np.where(rng.random(len(X)) < 1 / (1 + np.exp(-X @ rng.standard_normal(n) * 2)), 1.0, -1.0)
    return logistic_federation(X, b, np.array(sizes), mu, seed)


def iterates(algorithm, problem, rounds, **params):
    """The agents and the points of the first rounds."""
    agents = problem.clients(problem.reference())
    run = algorithm(agents, **params)
    return agents, [next(run) for _ in range(rounds)]
