"""Small problems whose constants are known, for the theorems of Yuan, Zaheer & Reddi 2021, section 4.

Everybody takes part in every round (Assumption 1e), and examples are drawn independently at every local step, as the
assumptions on the stochastic gradient ask.
"""

from typing import Annotated, Literal, TypedDict

import numpy as np

from fedrepro.experiments.problem import Problem, problem
from fedrepro.experiments.reference import Reference
from fedrepro.federation.cohorts import SampledClients, Sampling, Visit
from fedrepro.maths.domains import Bounds, Count, NonNegative, Positive
from fedrepro.maths.kernels.linear import LAZY
from fedrepro.maths.losses import sigmoid, softplus
from fedrepro.maths.proxes import L1, OnBlocks
from fedrepro.maths.seeds import stream
from fedrepro.papers.fco import theory
from fedrepro.papers.fco.centralised import minimiser
from fedrepro.papers.fco.problems.recovery import beginning


class IndependentDraws(Sampling):
    """All clients, `steps` batches each: drawn with replacement, or (`batch` 0) the client's whole data every time."""

    def __init__(self, offsets, steps, batch, seed):
        self.whole = batch == 0
        size = int(offsets[1]) if self.whole else batch
        super().__init__(offsets, len(offsets) - 1, size, 1, seed)
        self.steps = steps

    def draw(self, round):
        rng, m, n = stream(self.seed, "cohort", str(round)), self.count, int(self.offsets[1])
        if self.whole:
            rows = np.tile(np.arange(n), (m, self.steps))
        else:
            rows = rng.integers(n, size=(m, self.steps * self.batch))
        return Visit(np.arange(m), rows + self.offsets[:-1, None], np.full(m, rows.shape[1]))


class Watched:
    """A model whose clients step together, so that what the theorems speak of is seen between two communications.

    Kept: the sum of the shadow points ŵ_{r,k}, k = 1…K; that of the server's points ŵ_{r,0}, r ≥ 1; and how far the
    clients' states are from their mean, squared in the dual norm: the largest over k = 0…K and over k = 0…K-1, and
    the sum over the latter.
    """

    def __init__(self, model):
        self.model = model
        self.shadow, self.server = np.zeros(model.size), np.zeros(model.size)
        self.steps = self.rounds = 0
        self.apart = self.widest = self.widest_inside = 0.0

    def walk(self, mode, mirror, visit, batch, start, rate, shrink):
        states = np.repeat(start[:, None], len(visit.lengths), axis=1)  # one column a client
        server = mirror.primal(start, shrink) if mode == LAZY else start
        self.server += server if self.rounds else 0.0
        self.rounds += 1
        steps = visit.lengths[0] // batch
        for k in range(steps):
            rows = visit.rows[:, k * batch : (k + 1) * batch]
            if mode == LAZY:
                states = states - rate * self.model.gradients(mirror.primal(states, shrink + rate * k), rows)
            else:
                states = mirror.primal(mirror.dual(states) - rate * self.model.gradients(states, rows), rate)
            middle = states.mean(axis=1)
            self.shadow += mirror.primal(middle, shrink + rate * (k + 1)) if mode == LAZY else middle
            self.steps += 1
            apart = self.model.dual_norm2(states - middle[:, None]).mean()
            self.widest = max(self.widest, apart)
            if k + 1 < steps:  # and at k = 0 all are the same
                self.widest_inside = max(self.widest_inside, apart)
                self.apart += apart
        return states.T

    def mean_of_server(self, last):
        """The mean of the server's points of rounds 1…R, `last` the R-th."""
        return (self.server + last) / max(self.rounds, 1)

    def mean_of_shadow(self, start):
        return self.shadow / self.steps if self.steps else start


class Logistic:
    """Logistic losses with an intercept, last; gradients are bounded everywhere."""

    zeta2 = np.inf  # unknown, and no theorem on this loss asks for it

    def __init__(self, setting, seed):
        rng, (m, n, d) = stream(seed, "data"), (setting[k] for k in ("m", "n", "d"))
        X = rng.standard_normal((m, n, d)) + setting["heterogeneity"] * rng.standard_normal((m, 1, d))
        X /= np.sqrt(d)
        truth = np.where(np.arange(d) < d // 4, 4.0, 0.0)
        self.y = (rng.random((m, n)) < sigmoid(X @ truth)).astype(float).ravel()
        self.X = np.concatenate([X, np.ones((m, n, 1))], axis=2).reshape(m * n, d + 1)
        self.size, self.penalised = d + 1, slice(0, d)
        norms2 = np.sum(self.X**2, axis=1)
        self.L, self.G = norms2.max() / 4.0, np.sqrt(norms2.max())
        self.variance = norms2.reshape(m, n).mean(axis=1).max()  # a slope is at most 1

    def gradients(self, points, rows):
        """A column for each client, at its own point, the mean over its rows."""
        X = self.X[rows]
        slope = sigmoid(np.einsum("mbd,dm->mb", X, points)) - self.y[rows]
        return np.einsum("mb,mbd->dm", slope, X) / rows.shape[1]

    def gradient(self, w):
        return (sigmoid(self.X @ w) - self.y) @ self.X / len(self.y)

    def value(self, w):
        u = self.X @ w
        return float(np.mean(softplus(u) - self.y * u))

    @staticmethod
    def dual_norm2(columns):
        return np.sum(columns**2, axis=0)


class Quadratic:
    """½wᵀQw + (c_m + ξ)ᵀw, one Q for all: the heterogeneity and the noise are bounded on the whole space, as Assumption 2
    asks. Norms are those of its part (c)."""

    G = np.inf  # the gradient is not bounded

    def __init__(self, setting, seed):
        rng, (m, n, d) = stream(seed, "data"), (setting[k] for k in ("m", "n", "d"))
        A = rng.standard_normal((4 * d, d))
        self.Q = A.T @ A / len(A)
        self.inverse, self.L = np.linalg.inv(self.Q), float(np.linalg.norm(self.Q, 2))
        truth = np.where(np.arange(d) < d // 4, 1.0, 0.0)
        own = -self.Q @ truth + setting["heterogeneity"] * rng.standard_normal((m, d))
        noise = rng.standard_normal((m, n, d))
        noise -= noise.mean(axis=1, keepdims=True)
        self.c = (own[:, None] + noise).reshape(m * n, d)
        self.mean = own.mean(axis=0)
        self.size, self.penalised = d, slice(0, d)
        self.zeta2 = self.dual_norm2((own - self.mean).T).max()
        self.variance = self.dual_norm2(noise.reshape(m * n, d).T).reshape(m, n).mean(axis=1).max()

    def gradients(self, points, rows):
        return self.Q @ points + self.c[rows].mean(axis=1).T

    def gradient(self, w):
        return self.Q @ w + self.mean

    def value(self, w):
        return float(0.5 * w @ self.Q @ w + self.mean @ w)

    def dual_norm2(self, columns):
        """‖Q‖₂ zᵀQ⁻¹z, the dual of the Q/‖Q‖₂-norm."""
        return self.L * np.sum(columns * (self.inverse @ columns), axis=0)


class WatchedClients(SampledClients):
    full_gradient = None  # the models know the gradient over all examples only


class Bounded(Problem):
    """A small composite problem. Rates are given as shares of what the theorems allow, or as `theorem`, their own choice;
    a server rate of `small` is the regime of Theorem 4.1."""

    federation = WatchedClients
    measurable = ("gap", "server_gap", "last_gap", "apart", "widest", "widest_inside")

    def __init__(self, model, setting, seed):
        start = np.zeros(model.size)
        start[model.penalised] = beginning(setting["start"], seed, setting["d"])
        super().__init__(costs=model, start=start)
        self.setting = setting
        self.psi = OnBlocks(L1(setting["lambda"]), (model.penalised,))
        offsets = np.arange(setting["m"] + 1) * setting["n"]
        self.sampling = IndependentDraws(offsets, setting["steps"], setting["batch"], seed)

    def clients(self, reference):
        return WatchedClients(Watched(self.costs), self.psi, self.sampling, self.start, reference.constants)

    def objective(self, w):
        return self.costs.value(w) + self.psi.value(w)

    def reference(self):
        """Φ*, the constants of the theorems, and how far above Φ* the minimiser of F + 2ψ lies."""
        model = self.costs
        once, twice = (
            minimiser(model.gradient, psi, 1.0 / np.linalg.norm(self.curvature(), 2), self.start, 1e-13)
            for psi in (self.psi, self.psi.weighted(2.0))
        )
        constants = {
            "L": model.L, "G": model.G, "zeta2": model.zeta2, "M": self.setting["m"], "K": self.setting["steps"],
            "sigma2": 0.0 if self.sampling.whole else model.variance / self.setting["batch"],
            "B": 0.5 * float(np.sum((once - self.start) ** 2)), "value": self.objective(once),
        }  # fmt: skip
        return Reference(once, constants, {"twice": self.objective(twice) - constants["value"]})

    def curvature(self):
        """An upper bound on ∇²F."""
        model = self.costs
        return model.Q if isinstance(model, Quadratic) else model.X.T @ model.X / (4.0 * len(model.X))

    def measure(self, name, reference):
        best = reference.constants["value"]
        meters = {
            "gap": lambda x, clients: self.objective(clients.model.mean_of_shadow(x)) - best,
            "server_gap": lambda x, clients: self.objective(clients.model.mean_of_server(x)) - best,
            "last_gap": lambda x, clients: self.objective(x) - best,
            "apart": lambda x, clients: clients.model.apart / max(clients.model.steps, 1),
            "widest": lambda x, clients: clients.model.widest,
            "widest_inside": lambda x, clients: clients.model.widest_inside,
        }
        return lambda x, clients: float(meters[name](x, clients))

    @classmethod
    def meanings(cls, name, value, setting, params):
        """`theorem` and `small` become positive rates once the constants are known."""
        known = {"client_rate": "theorem", "server_rate": "small"}
        return (1.0,) if known.get(name) == value else (value,)

    def choose(self, function, params, reference):
        c, share, horizon = reference.constants, params["client_rate"], self.setting["horizon"]
        if params["server_rate"] == "small":
            eta = theory.small_rate(c, horizon)
            return params | {"client_rate": share * eta, "server_rate": 1.0 / share}
        if share != "theorem":
            return params | {"client_rate": share * theory.largest_rate(c)}
        rule = theory.quadratic_rate if isinstance(self.costs, Quadratic) else theory.bounded_gradient_rate
        return params | {"client_rate": rule(c, horizon)}


class Small(TypedDict("Penalty", {"lambda": Positive})):
    """m clients of n examples in d dimensions; `batch` 0 is the full gradient; `horizon` is R."""

    loss: Literal["logistic", "quadratic"]
    m: Count
    n: Count
    d: Count
    heterogeneity: NonNegative
    start: Literal["glorot", "zero"]
    batch: Annotated[int, Bounds(0)]
    steps: Count
    horizon: Count


@problem()
def bounds(setting: Small, seed, data=None) -> Bounded:
    """Logistic losses or quadratics, with an l1 penalty."""
    kind = {"logistic": Logistic, "quadratic": Quadratic}[setting["loss"]]
    return Bounded(kind(setting, seed), setting, seed)
