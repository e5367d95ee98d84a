"""Nesterov's accelerated gradient for strongly convex costs, for reference beside the heavy ball."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.steps import Step


@algorithm(needs={"gradient", "pooled"})
def nesterov(agents, *, step: Step = "1/L_F"):
    """y = θ + β(θ − θ⁻), θ ← y − s∇f(y), β = (1 − √(s ℓ_F))/(1 + √(s ℓ_F))."""
    s = agents.step(step)
    root = (s * agents.constants["l_F"]) ** 0.5
    beta = (1.0 - root) / (1.0 + root)
    x = last = agents.start
    while True:
        y = agents.receive(x + beta * (x - last))
        x, last = y - s * agents.mean_gradient(y), x
        yield x
