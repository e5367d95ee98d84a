"""AGD: gradient descent with heavy-ball momentum, the first-order method of GIANT's comparison."""

from typing import Annotated, Literal

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Bounds
from fedrepro.maths.steps import Step

Momentum = Annotated[float, Bounds(0, 1, "[)")]


@algorithm(needs={"gradient", "pooled"})
def agd(agents, *, step: Step = "1/L_F", momentum: Momentum | Literal["optimal"] = "optimal"):
    """θ^{t+1} = θ^t − s g_t + β(θ^t − θ^{t−1}); β `optimal` is (1 − √(s ℓ_F))², the best for a quadratic."""
    s = agents.step(step)
    beta = (1.0 - (s * agents.constants["l_F"]) ** 0.5) ** 2 if momentum == "optimal" else momentum
    x = last = agents.start
    while True:
        agents.receive(x)
        g = agents.mean_gradient(x)
        x, last = x - s * g + beta * (x - last), x
        yield x
