"""LocalNewton with a global line search. Bischoff et al. 2021, after Gupta et al. 2021."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count, Fraction
from fedrepro.maths.newton import solve_columns

CANDIDATES = 20  # stepsizes whose losses travel in one message, as in our other line searches


@algorithm(needs={"value", "gradient", "hessian"})
def local_newton(clients, *, local_steps: Count = 1, beta: Fraction = 0.5):
    """Every client takes Newton steps on its own cost; the server averages where they lead and goes as far along as
    lowers the global loss most, by η of 1, β, β², …, or stays where none does. Two exchanges an iteration.

    No global gradient is ever known, so that clients who differ stall before the optimum. Written from the paper's
    abstract and description: local steps of length one and the grid of η are our choice.
    """
    steps = beta ** np.arange(CANDIDATES)
    x = clients.start
    while True:
        clients.receive(x)
        local = clients.stack(x)
        for _ in range(local_steps):
            local = local - solve_columns(np.asarray(clients.hessians(local)), clients.gradients(local))
        p = clients.receive(clients.average(local - x))
        here = clients.values(x)
        lower = np.stack([here - clients.values(x + eta * p) for eta in steps], axis=1)
        total = clients.average(lower)  # a number for each η
        best = int(np.argmax(total))
        x = x + steps[best] * p if total[best] > 0 else x
        yield x
