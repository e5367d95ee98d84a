"""The problems of Pathak & Wainwright 2020 (section 2.3, section 4, Appendix B)."""

import numpy as np

from fedrepro.costs import LinearModels, Quadratics
from fedrepro.problems import SMOOTH, Problem, problem
from fedrepro.seeds import stream


def start_of(setting: dict, seed: int, d: int) -> np.ndarray:
    """x⁽¹⁾ is not stated: zero, or a standard normal draw where an experiment compares the two."""
    if setting.get("start", "zero") == "zero":
        return np.zeros(d)
    return stream(seed, "start").standard_normal(d)


class SplitProblem(Problem):
    """Adds ‖x − x*‖ as a measure, and Theorem 1's ‖z⁽¹⁾ − z*‖/√m to the reference.

    FedSplit's fixed point is z_j* = x* − s∇f_j(x*), with s = 1/√(ℓ* L*).
    """

    def reference(self) -> dict:
        ref = super().reference()
        if ref["l*"] > 0:
            g = self.costs.gradient(np.broadcast_to(ref["x"], (self.costs.m, *self.costs.shape)))
            s = 1.0 / np.sqrt(ref["l*"] * ref["L*"])
            ref["z_distance"] = float(np.sqrt(np.mean(np.sum((self.start - ref["x"] + s * g) ** 2, axis=1))))
        return ref

    def measure(self, name, reference):
        if name == "distance":
            return lambda x: float(np.linalg.norm(x - reference["x"]))
        return super().measure(name, reference)


@problem(offers=SMOOTH)
def gaussian_least_squares(setting, seed, data=None):
    """Appendix B.1: b_j = A_j x_0 + v_j with i.i.d. N(0, 1) designs and N(0, σ²) noise."""
    m, d, n, sigma2 = (setting[k] for k in ("m", "d", "n", "sigma2"))
    rng = stream(seed, "data", "gaussian_least_squares")
    x0 = rng.standard_normal(d)
    A = rng.standard_normal((m, n, d))
    b = A @ x0 + np.sqrt(sigma2) * rng.standard_normal((m, n))
    return SplitProblem(Quadratics.least_squares(list(A), list(b)), start_of(setting, seed, d))


@problem(offers=SMOOTH)
def conditioned_least_squares(setting, seed, data=None):
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


@problem(offers=SMOOTH)
def gaussian_logistic(setting, seed, data=None):
    """Appendix B.2.1: labels ±1 from the Bernoulli model (38) with x_0 ~ N(0, I_d)."""
    m, d, n = (setting[k] for k in ("m", "d", "n"))
    rng = stream(seed, "data", "gaussian_logistic")
    x0 = rng.standard_normal(d)
    A = rng.standard_normal((m, n, d))
    p = 1.0 / (1.0 + np.exp(-(A @ x0)))
    b = np.where(rng.random((m, n)) < p, 1.0, -1.0)
    return SplitProblem(LinearModels("logistic", list(A), list(b)), start_of(setting, seed, d))


@problem(offers=SMOOTH)
def flat_least_squares(setting, seed, data=None):
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
