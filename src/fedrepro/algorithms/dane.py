"""DANE: distributed approximate Newton, exact local solves with the global gradient. Shamir, Srebro & Zhang 2014, Figure 1."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Positive
from fedrepro.maths.steps import Step


@algorithm(needs={"gradient", "prox"})
def dane(clients, *, step: Step = "1/sqrt(l*L*)", eta: Positive = 1.0):
    """w_i = argmin_w f_i(w) − (∇f_i(x) − η∇f(x))ᵀw + (μ/2)‖w − x‖², averaged; `step` is 1/μ. Two exchanges.

    With a = ∇f_i(x) − η∇f(x), w_i = prox_{f_i/μ}(x + a/μ). On quadratics a round is
    x ← x − η·mean((H_i + μI)⁻¹)∇f(x) (their eq. 16), GIANT's step where μ = 0.
    """
    s = clients.step(step)
    x, local = clients.start, None
    while True:
        clients.receive(x)
        own = clients.gradients(clients.stack(x))
        g = clients.receive(clients.average(own))
        local = clients.prox(x + s * (own - eta * g), s, start=local)
        x = clients.average(local)
        yield x
