"""The synthetic problems of Yuan, Zaheer & Reddi 2021 (sections 5.1 and 5.2, Appendices B.2 and B.3)."""

from functools import cached_property
from typing import Annotated, Literal, NotRequired, TypedDict

import numpy as np

from fedrepro.experiments.problem import Problem, problem
from fedrepro.experiments.reference import Reference
from fedrepro.federation.cohorts import SampledClients, Sampling
from fedrepro.maths.domains import AtMost, Bounds, Count, NonNegative, Positive
from fedrepro.maths.models.linear import LinearModel
from fedrepro.maths.proxes import L1, Nuclear, OnBlocks
from fedrepro.maths.seeds import stream
from fedrepro.papers.fco.centralised import GatheredSquares, band, within

ZERO_BELOW = 1e-2  # B.2, B.3: smaller weights and singular values count as zero


class CompositeProblem(Problem):
    """A sampled federation with a composite term; subclasses say which, as `psi(constants)`, and what is measured."""

    def __init__(self, model, offsets, setting, seed, start, **about):
        super().__init__(costs=model, start=start, **about)
        self.setting, self.seed = setting, seed
        self.sampling = Sampling(offsets, setting["cohort"], setting["batch"], setting["epochs"], seed)

    federation = SampledClients

    def clients(self, reference):
        psi = self.psi(reference.constants)
        return SampledClients(self.costs, psi, self.sampling, self.start, reference.constants)

    @classmethod
    def meanings(cls, name, value, setting, params):
        if name in ("client", "members") and isinstance(value, int) and "m" in setting:
            most = setting["m"] - (name == "client")  # clients are numbered from 0
            if value > most:
                raise ValueError(f"{value} is more than {most}: there are {setting['m']} clients")
        return (value,)

    def measure(self, name, reference):
        if name in self.measures:
            return lambda x, clients: float(self.measures[name](x, reference.constants))
        raise LookupError(f"this problem has no measure '{name}'; it has {', '.join(self.measures)}")


class Pattern(TypedDict):
    """What the two recoveries share: m clients of n examples, the sampling, the start, and how λ is found: a sweep over
    decades, the band of scores close to the best, and the place in it."""

    m: Count
    n: Count
    cohort: Annotated[Count, AtMost("m")]
    batch: Annotated[Count, AtMost("n")]
    epochs: Count
    loss: Literal["squared", "half"]
    start: Literal["glorot", "zero"]
    validation_clients: Count
    lambda_points: Annotated[int, Bounds(2)]
    lambda_decades: Positive
    band: NonNegative
    place: Annotated[float, Bounds(0, 1)]
    means: NotRequired[NonNegative]


class Recovery(CompositeProblem):
    """Squares with a known pattern to recover; the penalty is found by the paper's rule."""

    def __init__(self, data, truth, setting, seed):
        X, y, self.validation = data
        scale = {"squared": 1.0, "half": 0.5}[setting["loss"]]
        offsets = np.arange(0, len(y) + 1, setting["n"])
        start = np.append(beginning(setting["start"], seed, truth.size), 0.0)
        super().__init__(LinearModel("squared", X, y, scale), offsets, setting, seed, start)
        self.truth = truth
        self.known = {}  # of the truth, for claims to compare with
        self.measures = {
            "error": lambda p, ref: np.linalg.norm(p[:-1] - truth),
            "loss": lambda p, ref: self.gathered.value(p) + self.penalty(ref["lambda"]).value(p[:-1]),
            "validation": lambda p, ref: self.held_out.value(p),
        }

    @cached_property
    def gathered(self):
        return GatheredSquares(self.costs.X, self.costs.y, self.costs.scale)

    @cached_property
    def held_out(self):
        """Mean squared error over fresh clients; only the moments of their examples are kept."""
        return GatheredSquares(*self.validation())

    def psi(self, constants):
        return OnBlocks(self.penalty(constants["lambda"]), (slice(0, self.truth.size),))

    def reference(self):
        """λ by the rule of section 5.1, the centralised optimum there, and how well it recovers the pattern."""
        zero = self.gathered.gradient(np.zeros(self.truth.size))
        facts = band(
            self.gathered, self.penalty, self.largest(zero), self.score, self.setting["lambda_points"],
            self.setting["lambda_decades"], self.setting["band"],
        )  # fmt: skip
        constants = {"lambda": within(facts, self.setting["place"])}
        w = self.gathered.minimise(self.penalty(constants["lambda"]))
        x = np.append(w, self.gathered.intercept(w))
        facts |= {"recovery": self.score(w)} | {
            name: meter(x, constants) for name, meter in self.measures.items()
        }
        facts["value"] = facts.pop("loss")
        clients = range(min(8, len(self.sampling.offsets) - 1))
        facts["stable_rate"] = 2.0 / np.median([self.curvature(j) for j in clients])
        return Reference(x, constants, facts | self.known | {"smoothness": self.gathered.smoothness})

    def curvature(self, client: int) -> float:
        """The largest curvature of one batch's cost: SGD is stable below 2 over it."""
        rows = slice(self.sampling.offsets[client], self.sampling.offsets[client] + self.setting["batch"])
        X = np.column_stack([self.costs.X[rows], np.ones(self.setting["batch"])])
        return 2.0 * self.costs.scale * np.linalg.norm(X, 2) ** 2 / len(X)


class Lasso(Recovery):
    measurable = ("error", "loss", "validation", "precision", "recall", "f1", "density", "nonzeros")
    penalty = staticmethod(L1)

    def __init__(self, *given):
        super().__init__(*given)
        support = self.truth != 0

        def counts(p):
            found = np.abs(p[:-1]) >= ZERO_BELOW
            return np.count_nonzero(found & support), np.count_nonzero(found)

        def f1(p, ref=None):
            hits, found = counts(p)
            return 2.0 * hits / (found + support.sum())

        self.measures |= {
            "precision": lambda p, ref: (lambda hits, found: hits / max(found, 1))(*counts(p)),
            "recall": lambda p, ref: counts(p)[0] / support.sum(),
            "f1": f1,
            "density": lambda p, ref: counts(p)[1] / support.size,
            "nonzeros": lambda p, ref: np.count_nonzero(p[:-1]),
        }
        self.score = lambda w: f1(np.append(w, 0.0))
        self.largest = lambda g: float(np.abs(g).max())


class LowRank(Recovery):
    measurable = ("error", "loss", "validation", "rank")

    def __init__(self, data, truth, setting, seed):
        self.side = len(truth)
        super().__init__(data, truth.ravel(), setting, seed)
        wanted = setting["true_rank"]
        self.known = {"true_rank": wanted}

        def rank(w):
            if not np.all(np.isfinite(w)):
                return self.side
            s = np.linalg.svd(w.reshape(self.side, -1), compute_uv=False)
            return np.count_nonzero(s > ZERO_BELOW)

        self.measures["rank"] = lambda p, ref: rank(p[:-1])
        self.score = lambda w: 1.0 - abs(rank(w) - wanted) / self.side
        self.largest = lambda g: float(np.linalg.norm(g.reshape(self.side, -1), 2))

    def penalty(self, strength):
        return Nuclear(strength, (self.side, self.side))


class SparsePattern(Pattern):
    d: Count
    ones: Annotated[Count, AtMost("d")]


@problem()
def lasso(setting: SparsePattern, seed, data=None) -> Lasso:
    """B.2.1: y = xᵀw + b + ε, w of `ones` ones and then zeros, x around a mean of each client's own."""
    truth = (np.arange(setting["d"]) < setting["ones"]).astype(float)
    return Lasso(observations(truth, setting, seed), truth, setting, seed)


class LowRankPattern(Pattern):
    side: Count
    true_rank: Annotated[Count, AtMost("side")]


@problem()
def low_rank(setting: LowRankPattern, seed, data=None) -> LowRank:
    """B.3.1: y = ⟨X, W⟩ + b + ε, W the identity on its first `true_rank` coordinates."""
    truth = np.diag((np.arange(setting["side"]) < setting["true_rank"]).astype(float))
    return LowRank(observations(truth.ravel(), setting, seed), truth, setting, seed)


def observations(truth, setting, seed):
    """X, y of all clients in order, and a function that draws the examples of fresh clients, held out.
    X is in single precision, as in the public code: half the memory to read in every round.

    `means` scales the clients' own means: 1 as printed, 0 for clients that are all alike.
    """
    n, d = setting["n"], truth.size

    def draw(axis, m):
        rng = stream(seed, "data", axis)
        X = setting.get("means", 1.0) * np.repeat(rng.standard_normal((m, d)), n, axis=0)
        X += rng.standard_normal((m * n, d))
        return X.astype(np.float32), X @ truth + bias + rng.standard_normal(m * n)

    bias = stream(seed, "data", "bias").standard_normal()
    return *draw("train", setting["m"]), lambda: draw("validation", setting["validation_clients"])


def beginning(name: str, seed: int, *shapes: int | tuple[int, int]) -> np.ndarray:
    """Weights to start from, kernel after kernel: `glorot`, uniform within √(6/(inputs + outputs)), or `zero`."""
    rng, kernels = stream(seed, "start"), []
    for shape in shapes:
        inputs, outputs = shape if isinstance(shape, tuple) else (shape, 1)
        reach = {"glorot": np.sqrt(6.0 / (inputs + outputs)), "zero": 0.0}[name]
        kernels.append(rng.uniform(-1.0, 1.0, inputs * outputs) * reach)
    return np.concatenate(kernels)
