"""SCAFFOLD: local steps corrected by control variates. Karimireddy et al. 2020, Algorithm 1."""

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count, Positive
from fedrepro.maths.steps import Step


@algorithm(needs={"gradient", "value"})  # clients whose points are kept in full
def scaffold(clients, *, step: Step = "1/L*", local_steps: Count = 10, server_rate: Positive = 1.0):
    """Everybody takes part, gradients are full: y_i ← y_i − η_l(∇f_i(y_i) − c_i + c), K = `local_steps` times. Point
    and control travel in one message, 2d floats either way.

    The controls c_i start at zero and are renewed by option II, from the path itself. Its fixed points are those of
    gradient descent, whatever K: where c_i = ∇f_i(x*) no client moves.
    """
    s = clients.step(step)
    x = clients.start
    own, c = clients.stack(0 * x), 0 * x  # c_i and c
    while True:
        clients.receive(np.concatenate([x, c]))
        local = clients.stack(x)
        for _ in range(local_steps):
            local = local - s * (clients.gradients(local) - own + c)  # line 10
        renewed = own - c + (x - local) / (local_steps * s)  # line 12, option II
        moved, turned = np.split(clients.average(np.concatenate([local - x, renewed - own], axis=1)), 2)
        x, c = x + server_rate * moved, c + turned  # lines 16–17
        own = renewed
        yield x
