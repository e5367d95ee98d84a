"""The problems of Pathak & Wainwright 2020 (section 2.3, section 4, Appendix B)."""

from typing import Annotated, Literal, NotRequired, TypedDict

import numpy as np
from scipy.optimize import linprog

from fedrepro.experiments.problem import Problem, problem
from fedrepro.maths.costs import LinearModels, Quadratics
from fedrepro.maths.domains import AtMost, ConditionNumber, Count, NonNegative, Positive
from fedrepro.maths.losses import sigmoid
from fedrepro.maths.seeds import stream

Start = NotRequired[Literal["zero", "normal"]]


def start_of(setting: dict, seed: int, d: int) -> np.ndarray:
    """x⁽¹⁾ is not stated: zero, or a standard normal draw where an experiment compares the two."""
    if setting.get("start", "zero") == "zero":
        return np.zeros(d)
    return stream(seed, "start").standard_normal(d)


class SplitProblem(Problem):
    """Adds Theorem 1's ‖z⁽¹⁾ − z*‖/√m to the reference.

    FedSplit's fixed point is z_j* = x* − s∇f_j(x*), with s = 1/√(ℓ* L*).
    """

    measurable = (*Problem.measurable, "prox_error", "prox_contraction")

    def measure(self, name, reference):
        if name in ("prox_error", "prox_contraction"):  # of Corollary 1: the largest over the clients
            return lambda x, clients: self.prox_errors(clients)[name == "prox_contraction"]
        return super().measure(name, reference)

    def prox_errors(self, clients) -> tuple[float, float]:
        """‖u_j − prox(v_j)‖ of the last inexact prox, largest over j, and the same relative to its start's."""
        if getattr(clients, "inexact", None) is None or not np.isfinite(clients.inexact[3]).all():
            return np.nan, np.nan
        v, step, start, u = clients.inexact
        exact = self.costs.prox(v, step)
        left, began = (np.linalg.norm(y - exact, axis=1) for y in (u, start))
        known = began > 1e-9 * (1.0 + np.linalg.norm(exact, axis=1))  # below it both are rounding
        return float(left.max()), float((left[known] / began[known]).max()) if known.any() else np.nan

    def reference(self):
        ref = super().reference()
        low, high = ref.constants["l*"], ref.constants["L*"]
        if low > 0:
            g = self.costs.gradient(np.broadcast_to(ref.optimum, (self.costs.m, *self.costs.shape)))
            z = self.start - ref.optimum + 1.0 / np.sqrt(low * high) * g
            ref.facts["z_distance"] = float(np.sqrt(np.mean(np.sum(z**2, axis=1))))
        return ref


class LogisticProblem(SplitProblem):
    """Also counts the clients whose data a plane separates: their cost has no minimiser, and ℓ* = 0."""

    def reference(self):
        ref = super().reference()
        pairs = zip(self.costs.data.A, self.costs.b, strict=True)
        ref.facts |= {"clients": self.costs.m, "separable": sum(separable(A, b) for A, b in pairs)}
        return ref


def separable(A: np.ndarray, b: np.ndarray) -> bool:
    """Whether some x has b_i a_iᵀx ≥ 1 for all rows: a linear program without an objective."""
    free = [(None, None)] * A.shape[1]
    found = linprog(
        np.zeros(A.shape[1]), A_ub=-b[:, None] * A, b_ub=-np.ones(len(b)), bounds=free, method="highs"
    )
    return bool(found.success)


class GaussianSquares(TypedDict):
    m: Count
    d: Count
    n: Count
    sigma2: Positive
    start: Start


@problem()
def gaussian_least_squares(setting: GaussianSquares, seed, data=None) -> SplitProblem:
    """Appendix B.1: b_j = A_j x_0 + v_j with i.i.d. N(0, 1) designs and N(0, σ²) noise."""
    m, d, n, sigma2 = (setting[k] for k in ("m", "d", "n", "sigma2"))
    rng = stream(seed, "data", "gaussian_least_squares")
    x0 = rng.standard_normal(d)
    A = rng.standard_normal((m, n, d))
    b = A @ x0 + np.sqrt(sigma2) * rng.standard_normal((m, n))
    return SplitProblem(Quadratics.least_squares(list(A), list(b)), start_of(setting, seed, d))


class ConditionedSquares(TypedDict):
    m: Count
    d: Annotated[Count, AtMost("n")]
    n: Count
    sigma2: Positive
    kappa: ConditionNumber
    start: Start


@problem()
def conditioned_least_squares(setting: ConditionedSquares, seed, data=None) -> SplitProblem:
    """Appendix B.3: A_j = U_j Λ_j V_j with Haar U_j, V_j and singular values (√κ, 1, …, 1).

    Only the first d columns of U_j meet a nonzero singular value; they are drawn from the same law as the
    columns of a Haar matrix, without making the rest. (Λ_j is printed transposed.)
    """
    m, d, n, sigma2, kappa = (setting[k] for k in ("m", "d", "n", "sigma2", "kappa"))
    rng = stream(seed, "data", "conditioned_least_squares")
    x0 = rng.standard_normal(d)
    singular = np.ones(d)
    singular[0] = np.sqrt(kappa)
    A, b = [], []
    for _ in range(m):
        U, V = haar_frame(rng, n, d), haar_frame(rng, d, d)
        A.append((U * singular) @ V)
        b.append(A[-1] @ x0 + np.sqrt(sigma2) * rng.standard_normal(n))
    return SplitProblem(Quadratics.least_squares(A, b), start_of(setting, seed, d))


def haar_frame(rng, n: int, d: int) -> np.ndarray:
    """The first d columns of a Haar-distributed orthogonal n × n matrix (QR with the signs put right)."""
    Q, R = np.linalg.qr(rng.standard_normal((n, d)))
    return Q * np.sign(np.diag(R))


class GaussianLogistic(TypedDict):
    m: Count
    d: Count
    n: Count
    start: Start


@problem()
def gaussian_logistic(setting: GaussianLogistic, seed, data=None) -> LogisticProblem:
    """Appendix B.2.1: labels ±1 from the Bernoulli model (38) with x_0 ~ N(0, I_d)."""
    m, d, n = (setting[k] for k in ("m", "d", "n"))
    rng = stream(seed, "data", "gaussian_logistic")
    x0 = rng.standard_normal(d)
    A = rng.standard_normal((m, n, d))
    p = sigmoid(A @ x0)
    b = np.where(rng.random((m, n)) < p, 1.0, -1.0)
    return LogisticProblem(LinearModels("logistic", list(A), list(b)), start_of(setting, seed, d))


class FlatSquares(TypedDict):
    m: Count
    d: Count
    n: Count
    rank: Annotated[Count, AtMost("d"), AtMost("n")]
    decay: NonNegative


@problem()
def flat_least_squares(setting: FlatSquares, seed, data=None) -> SplitProblem:
    """Convex but not strongly convex, for Theorem 2: designs of rank below d whose singular values fall as
    i^(−decay), so that no accuracy is easy."""
    m, d, n, rank, decay = (setting[k] for k in ("m", "d", "n", "rank", "decay"))
    rng = stream(seed, "data", "flat_least_squares")
    shared = haar_frame(rng, d, rank)  # every client misses the same directions: their sum is singular too
    singular = np.arange(1, rank + 1, dtype=float) ** -decay
    x0 = rng.standard_normal(d)
    A = [(haar_frame(rng, n, rank) * singular) @ (haar_frame(rng, rank, rank) @ shared.T) for _ in range(m)]
    b = [a @ x0 + 0.1 * rng.standard_normal(n) for a in A]
    return SplitProblem(Quadratics.least_squares(A, b), np.zeros(d))
