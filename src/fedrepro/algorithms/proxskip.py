"""ProxSkip for consensus, called Scaffnew: gradient steps that mostly skip the averaging. Mishchenko et al. 2022, Algorithm 2."""

from typing import Literal

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Share
from fedrepro.maths.seeds import stream
from fedrepro.maths.steps import Step


@algorithm(needs={"gradient"})
def proxskip(clients, *, step: Step = "1/L*", p: Share | Literal["optimal"] = "optimal"):
    """x̂_i = x_i − γ(∇f_i(x_i) − h_i); with probability p all clients send x̂_i and go on from the mean, else each from
    its own; h_i ← h_i + (p/γ)(x_i − x̂_i). A round ends where they communicate, after 1/p local steps on average.

    p `optimal` is √(γ ℓ*), with which Theorem 3.6 needs √κ log(1/ε) averages. The coins are the same in every run.
    """
    s = clients.step(step)
    p = min(1.0, (s * clients.constants["l*"]) ** 0.5) if p == "optimal" else p
    coins = stream(0, "coins")
    x = clients.receive(clients.start)
    local = clients.stack(x)
    h = 0 * local
    while True:
        ahead = local - s * (clients.gradients(local) - h)  # line 5
        while coins.random() >= p:  # lines 6 and 9: x_i ← x̂_i, so that h_i stays
            local = ahead
            ahead = local - s * (clients.gradients(local) - h)
        x = clients.receive(clients.average(ahead))  # line 7
        local = clients.stack(x)
        h = h + (p / s) * (local - ahead)  # line 11
        yield x
