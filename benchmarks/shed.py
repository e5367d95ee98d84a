"""Speed of the SHED experiments as ratios to the plain way, measured in one run (processor time).

The plain way reads eq. (30) to the letter: every round it sums the outer products of all eigenvectors received so far,
agent by agent, and takes the full eigendecomposition at renewals.
"""

import time

import numpy as np
from measuring import line, reading
from threadpoolctl import threadpool_limits

from fedrepro.algorithms.fednl import fednl
from fedrepro.algorithms.parts.backtracking import armijo
from fedrepro.algorithms.parts.renewals import rule
from fedrepro.algorithms.shed import shed
from fedrepro.maths.lanczos import by_lapack, dominant
from fedrepro.papers.shed.problems import logistic_federation

AGENTS, SIZE, N = 28, 400, 300
SMALL = 3, 60, 20


def federation(agents, size, n):
    """Fashion-MNIST's shape (28 agents, 400 rows, n = 300), with a spectrum that decays like its own."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((agents * size, n)) * np.geomspace(4.0, 0.05, n)
    X[:, 0] += 3.0
    theta = rng.standard_normal(n)
    b = np.where(rng.random(len(X)) < 1 / (1 + np.exp(-X @ theta)), 1.0, -1.0)
    return logistic_federation(X, b, np.full(agents, size), 1e-5, 0)


def plain_shed(agents):
    """Algorithm 4, rebuilt from all eigenpairs every round."""
    due, x, t = rule("fibonacci", agents.n), agents.start, 0
    while True:
        t += 1
        if due(t, []):
            pairs, q = [np.linalg.eigh(H) for H in agents.hessians(x)], 0
        q = min(q + 1, agents.n - 1)
        H = np.zeros((agents.n, agents.n))
        for weight, (values, vectors) in zip(agents.weights, pairs, strict=True):
            rho = values[-q - 1]
            local = rho * np.eye(agents.n)
            for j in range(1, q + 1):
                local += (values[-j] - rho) * np.outer(vectors[:, -j], vectors[:, -j])
            H += weight * local
        g = agents.weights @ agents.gradients(x)
        p = np.linalg.solve(H, g)
        x = x - armijo(agents, x, p, g, 0.1, 0.5) * p
        yield x


def seconds(run, gap, below, limit):
    """Until the gap is below; also the rounds it took."""
    begin, spent, rounds, left = time.process_time(), 0.0, 0, np.inf
    while left > below and rounds < limit:
        x, rounds = next(run), rounds + 1
        pause = time.process_time()
        left = gap(x, None)
        spent += time.process_time() - pause
    return time.process_time() - begin - spent, rounds


def run(small: bool) -> list[dict]:
    agents, size, n = SMALL if small else (AGENTS, SIZE, N)
    with threadpool_limits(1):
        problem = federation(agents, size, n)
        ref = problem.reference()
        gap = problem.measure("gap", ref)
        next(shed(problem.clients(ref)))  # compiles
        ours, rounds = seconds(shed(problem.clients(ref)), gap, 1e-10, 1000)
        plain, same = seconds(plain_shed(problem.clients(ref)), gap, 1e-10, 1000)
        assert abs(rounds - same) <= 1, (rounds, same)
        words = f"Fib-SHED to 1e-10, {agents} agents, n = {n}, {rounds} iterations"
        bound = rounds * reading(8 * agents * size * n)
        return [
            line(words, ours, plain, bound, "reading all rows every iteration"),
            compression(problem, ref),
        ]


def compression(problem, ref) -> dict:
    """FedNL's rank-1 compression by Lanczos against a full eigendecomposition, on differences it meets."""
    agents = problem.clients(ref)
    iteration = fednl(agents)
    for _ in range(10):
        x = next(iteration)
    frame = iteration.gi_frame.f_locals
    differences, guess = agents.hessians(x) - frame["learned"], frame["guess"]
    begin = time.process_time()
    quick = [dominant(D, s, 1e-6)[0] for D, s in zip(differences, guess, strict=True)]
    middle = time.process_time()
    full = [by_lapack(D)[0] for D in differences]
    end = time.process_time()
    np.testing.assert_allclose(quick, full, rtol=1e-9)
    words = f"FedNL's rank-1 compression of {agents.m} matrices, n = {agents.n}"
    return line(
        words, middle - begin, end - middle, reading(8 * agents.m * agents.n**2), "reading the matrices"
    )
