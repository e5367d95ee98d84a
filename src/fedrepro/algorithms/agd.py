"""AGD: gradient descent with heavy-ball momentum, the first-order method of GIANT's comparison."""

from fedrepro.algorithms import algorithm


@algorithm(needs={"gradient"})
def agd(agents, *, step="1/L_F", momentum="optimal"):
    """θ^{t+1} = θ^t − s g_t + β(θ^t − θ^{t−1}); β `optimal` is (1 − √(s ℓ_F))², the best for a quadratic."""
    s = agents.step(step)
    beta = (1.0 - (s * agents.constants["l_F"]) ** 0.5) ** 2 if momentum == "optimal" else momentum
    x = last = agents.start
    while True:
        agents.receive(x)
        g = agents.mean_gradient(x)
        x, last = x - s * g + beta * (x - last), x
        yield x
