"""Fast federated dual averaging, for strongly convex losses. Bao, Crawshaw, Luo & Liu 2022, Algorithm 1."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import NonNegative, Positive


@algorithm(needs={"cohort"})
def fast_feddualavg(clients, *, client_rate: Positive, mu: NonNegative):
    """Dual averaging over the lower bounds g_tᵀw + (μ/2)‖w − w_t‖² + ψ(w) instead of the linear ones, weighted by a_t:
    z ← z + a_t(g_t − μw_t), w = argmin zᵀw + A((μ/2)‖w‖² + ψ(w)) + (1/2η)‖w − w⁰‖² with A = Σa_t. Clients take these
    steps on their own; the server averages z. With μ = 0 and equal weights it is FedDualAvg with η_s = 1.

    The weights grow linearly, a_t = 1 + μηt, so that the first step has length η = `client_rate`; the paper's exact
    constants were not to be had, these are our reading of "weights growing with t".
    """
    h = clients.mirror("euclidean")
    eta, first = client_rate, clients.start
    z, steps = 0 * first, 0

    def total(t):  # A after t steps
        return t + mu * eta * t * (t - 1) / 2.0

    def place(z, t, primal):
        c = mu * total(t) + 1.0 / eta
        return primal((first / eta - z) / c, total(t) / c)

    while True:
        cohort = clients.sample()
        cohort.receive(z)

        def step(state, gradient, primal, k, before=steps):
            w = place(state, before + k, primal)
            return state + (1.0 + mu * eta * (before + k)) * (gradient(w) - mu * w)

        z = cohort.average(cohort.local_steps(cohort.stack(z), step, h))
        steps += round(cohort.K)
        yield place(z, steps, h.primal)
