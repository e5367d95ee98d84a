"""What Theorems 9 and 10 of Dal Fabbro et al. speak of, at every iteration of a run that is watched."""

import numpy as np

from fedrepro.federation.agents import Agents
from fedrepro.federation.protocol import oracle

THIRD_DERIVATIVE = 1 / (6 * 3**0.5)  # the largest of the logistic loss


def lipschitz(X: np.ndarray) -> float:
    """A constant L with ‖∇²f(a) − ∇²f(b)‖ ≤ L‖a − b‖ for the mean logistic loss over the rows of X."""
    length = np.linalg.norm(X, axis=1)
    return THIRD_DERIVATIVE * float(np.linalg.eigvalsh((X.T * length) @ X / len(X))[-1])


def smoothness(X: np.ndarray, mu: float) -> float:
    """K, with ∇²f ⪯ K I."""
    return float(np.linalg.eigvalsh(X.T @ X / len(X))[-1]) / 4 + mu


def lyapunov(spectrum, period: int, convex: bool) -> float:
    """ā_T of eqs. (24) and (36) with one EEP a round: the geometric mean of 1 − λ̄_n/ρ̄_k over a period."""
    q = np.minimum(np.arange(1, period + 1), len(spectrum) - 1)
    rho = spectrum[q] if convex else (spectrum[q] + spectrum[-1]) / 2
    return float(np.prod(np.maximum(1 - spectrum[-1] / rho, 0.0)) ** (1 / period))


class WatchedAgents(Agents):
    """Agents that remember what an iteration of SHED asked of them: θ^{k_t} and the spectra there, q_t, θ^t and p_t."""

    point = None

    @oracle("hessian")
    def hessians(self, x):
        found = super().hessians(x)
        values, vectors = np.linalg.eigh(found)
        self.renewed, self.spectra, self.vectors = x, values[:, ::-1], vectors[:, :, ::-1]
        self.shared = np.zeros(self.m, int)
        return found

    def send_vectors(self, each, scalars=0):
        super().send_vectors(each, scalars)
        self.shared = self.shared + each

    def decrease(self, x, p, g, candidates):
        self.point, self.direction = x, p
        return super().decrease(x, p, g, candidates)


class Iteration:
    """One step of SHED, θ^t to θ^{t+1}, as Theorems 9 and 10 see it. The constants are L, K and κ̄ (here μ)."""

    def __init__(self, agents: WatchedAgents, following, optimum, constants: dict, alpha: float):
        self.spectra, self.vectors, self.shared = agents.spectra, agents.vectors, agents.shared
        self.weights, self.alpha = agents.weights, alpha
        self.L, self.K, self.kappa = (constants[k] for k in ("lipschitz", "smoothness", "mu"))
        self.step = float(np.linalg.norm(following - agents.point) / np.linalg.norm(agents.direction))
        self.error = float(np.linalg.norm(agents.point - optimum))
        self.next_error = float(np.linalg.norm(following - optimum))
        self.outdated = float(np.linalg.norm(agents.renewed - optimum))
        self.delay = float(np.linalg.norm(agents.point - agents.renewed))
        self.bend = float(np.linalg.norm(agents.pooled.hessian(agents.point[None])[0], 2))  # ‖H(θ^t)‖
        self.smallest = float(agents.weights @ agents.spectra[:, -1])  # λ̄_{n,t}
        self.complete = bool(np.all(agents.shared >= agents.n - 1))

    def rho(self, more: int = 0) -> float:
        """ρ̄_t, eq. (29), had every agent sent so many more eigenvectors."""
        q = np.minimum(self.shared + more, self.spectra.shape[1] - 1)
        return float(self.weights @ self.spectra[np.arange(len(q)), q])

    def largest(self) -> float:
        """The largest eigenvalue of Ĥ_t, eqs. (26) and (30), over K."""
        rho = self.spectra[np.arange(len(self.shared)), np.minimum(self.shared, self.spectra.shape[1] - 1)]
        known = np.arange(self.spectra.shape[1]) < self.shared[:, None]
        values = self.weights[:, None] * np.where(known, self.spectra, rho[:, None])
        H = np.einsum("ijk,ik,ilk->jl", self.vectors, values, self.vectors)
        return float(np.linalg.eigvalsh(H)[-1]) / self.K

    def first(self, more: int = 0) -> float:
        """c_{1,t} of eq. (32)."""
        rho = self.rho(more)
        loose = self.L * self.delay + (1 - self.step) * self.bend
        return 1 - self.smallest / rho + loose / rho

    def bound(self) -> float:
        """The right-hand side of (31)."""
        return self.first() * self.error + self.step * self.L / (2 * self.rho()) * self.error**2

    def first_condition(self) -> float:
        """The left-hand side of (33) over the right-hand one: it holds where this is at most one."""
        left = 3 * self.kappa * (max(self.error, self.outdated) + self.error) + self.K * self.error
        return left / (3 * self.kappa**2 / self.L * (1 - 2 * self.alpha))

    def second_condition(self) -> float:
        """The same for (34)."""
        return (1.5 * self.L * self.error + self.L * max(self.error, self.outdated)) / self.kappa


MEASURES = {
    "one_step": lambda i: i.next_error / i.bound(),
    "more": lambda i: i.first(more=1) - i.first(),
    "first_condition": Iteration.first_condition,
    "second_condition": Iteration.second_condition,
    "largest": Iteration.largest,
    "step": lambda i: i.step,
    "complete": lambda i: float(i.complete),
}
