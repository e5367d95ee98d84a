"""The four setups of Niu & Wei (section 5, Appendix C.1), and quadratics for their Theorem 4.1."""

from typing import Annotated, Literal, NotRequired, TypedDict

import numpy as np

from fedrepro import datasets
from fedrepro.datasets import partition, preprocess
from fedrepro.datasets.mushroom import MISSING
from fedrepro.datasets.partition import pure_clients
from fedrepro.experiments import tuning
from fedrepro.experiments.problem import Problem, problem
from fedrepro.experiments.reference import Reference
from fedrepro.experiments.runner import BLOW_UP
from fedrepro.federation.primal_dual import PrimalDualClients
from fedrepro.maths import optimum
from fedrepro.maths.columns import ColumnLogistic, ColumnQuadratics
from fedrepro.maths.domains import Bounds, ConditionNumber, Count, Positive, fits
from fedrepro.maths.seeds import stream
from fedrepro.papers.fedhybrid import theory


class Tuned(TypedDict):
    """What every setup may say of the search: points, rounds of each, and the score."""

    points: NotRequired[Count]
    horizon: NotRequired[Count]
    score: NotRequired[Literal["decay", "final"]]
    clients: NotRequired[
        Literal["unlike", "shuffled"]
    ]  # as the setup has them, or the same rows dealt at random


class ConsensusProblem(Problem):
    """Tunes every method with the same budget; measures the paper's errors and the metric (4.1)."""

    federation = PrimalDualClients
    measurable = ("gap", "relative", "distance", "value", "tracking_error", "dual_gap")

    def __init__(self, costs, setting, seed, **more):
        super().__init__(costs, np.zeros(costs.shape), **more)
        self.budget = tuning.Budget(
            setting.get("points", 0), setting.get("horizon", 0), setting.get("score", "decay")
        )
        self.order = stream(seed, "newton clients").permutation(costs.m)
        self.seen = self.measured = (None, None)
        self.mu = np.nan  # of the cell that runs, for (4.1) at its start

    def reference(self):
        """The optimum; ℓ and L of the clients (low, high) and of the mean; who turns Newton first."""
        x = optimum.minimiser(self.costs)
        rows = optimum.shared(self.costs, x)
        low, high = self.costs.bounds()
        constants = {
            "low": low,
            "high": high,
            "l*": float(low.min()),
            "L*": float(high.max()),
            "l_F": float(np.linalg.eigvalsh(self.costs.hessian(rows).mean(axis=0))[0]),
            "L_F": float(np.linalg.eigvalsh(self.costs.ceilings().mean(axis=0))[-1]),
            "order": self.order,
        }
        return Reference(x, constants, optimum.certificate(self.costs, x))

    def choose(self, function, params, ref):
        """Replace every range [low, high] among the hyper-parameters, and what is `like` one, by the search's
        winner."""
        params = {
            name: params[value.removeprefix("like ")] if str(value).startswith("like ") else value
            for name, value in params.items()
        }
        self.mu = params.get("mu", np.nan)
        ranges = {name: value for name, value in params.items() if isinstance(value, list)}
        if not ranges:
            return params
        model = self.costs.near(ref.optimum)

        def advance(costs, columns, rounds):
            """Gaps of the columns by round, (rounds + 1, P)."""
            count = len(next(iter(columns.values())))
            shape = (*costs.shape, count)
            if count == 1:  # Hessians of a single trial are formed, not mixed from the rows' outer products
                shape, columns = costs.shape, {name: float(column[0]) for name, column in columns.items()}
            run = function(PrimalDualClients(costs, np.zeros(shape), ref.constants), **params | columns)
            first = costs.gap(self.start, ref.optimum)
            out = np.full((rounds + 1, count), np.inf)
            out[0] = first
            for k in range(1, rounds + 1):
                try:
                    out[k] = costs.gap(next(run), ref.optimum)
                except np.linalg.LinAlgError:
                    break
                lost = ~(out[k] < BLOW_UP * first)
                if k % self.budget.rounds == 0:
                    lost |= ~tuning.lasting(out[: k + 1], self.budget.rounds)
                if np.all(lost | (out[k - 1 : k + 1] < tuning.FLOOR * first).all(axis=0)):
                    out[k + 1 :] = out[k]
                    break
            return out

        def gaps(columns, rounds, exactly):
            """Exact runs are dear where the model is not the problem itself. Beyond the horizon columns come best first
            and are asked whether they go on falling: those run that do so on the model, up to the first that does so
            exactly."""
            if not exactly or rounds <= self.budget.rounds or model is self.costs:
                return advance(self.costs if exactly else model, columns, rounds)
            out = np.full((rounds + 1, len(next(iter(columns.values())))), np.inf)
            out[0] = self.costs.gap(self.start, ref.optimum)
            falling = tuning.lasting(advance(model, columns, rounds), self.budget.rounds)
            for part in np.flatnonzero(falling)[:, None]:
                out[:, part] = advance(self.costs, {n: c[part] for n, c in columns.items()}, rounds)
                if tuning.lasting(out[:, part], self.budget.rounds)[0]:
                    break
            return out

        return params | tuning.search(gaps, ranges, self.budget, modelled=model is not self.costs)

    @classmethod
    def meanings(cls, name, value, setting, params):
        if isinstance(value, str) and value.startswith("like "):
            value = params.get(value.removeprefix("like "), value)
            if isinstance(value, str) and value.startswith("like "):
                raise ValueError(
                    f"'{value}' must name a hyper-parameter that has a value or a range of its own"
                )
        if name == "newton" and isinstance(value, int) and value > setting.get("n", np.inf):
            raise ValueError(f"{value} Newton clients of {setting['n']}")
        if not isinstance(value, list):
            return (value,)
        if not fits(value, tuple[Positive, Positive], {}) or not value[0] < value[1]:
            raise ValueError(f"{value} is not a range [low, high] to tune in, with 0 < low < high")
        if not {"points", "horizon"} <= set(setting):
            raise ValueError(
                f"to tune in the range {value}, the problem needs the parameters points and horizon"
            )
        return tuple(value)

    def measure(self, name, ref):
        if name == "distance":  # ‖x_0 − x*‖/‖x*‖, figure 3(a)
            size = np.linalg.norm(ref.optimum)
            return lambda x, clients: float(np.linalg.norm(x - ref.optimum) / size)
        if name == "gap":
            return lambda x, clients: self.gap(x, ref)
        if name == "relative":
            first = self.costs.gap(self.start, ref.optimum)
            return lambda x, clients: self.gap(x, ref) / first if first > 0 else np.nan
        if name in ("tracking_error", "dual_gap"):  # (4.1), at the clients' points and duals
            return lambda x, clients: self.metric(clients, ref)[name == "dual_gap"]
        return super().measure(name, ref)

    def gap(self, x, ref):
        """Kept for the next measure that asks at the same x."""
        if self.seen[0] is not x:
            self.seen = (x, self.costs.gap(x, ref.optimum))
        return self.seen[1]

    def metric(self, clients, ref):
        """Both numbers come from one inner solve, kept until the clients send again."""
        mu = self.mu if np.isnan(clients.mu) else clients.mu  # nothing was sent before the first round
        if np.isnan(mu):  # no μ was chosen either: the Lagrangian is not known yet
            return np.nan, np.nan
        if self.measured[0] is not clients.primal:
            found = theory.metric(self.costs, ref.optimum, clients.primal, clients.dual, mu)
            self.measured = (clients.primal, found)
        return self.measured[1]


# --- (1), (2): least squares (C.1) ---


def dealt(matrices, responses, setting, seed):
    """The clients as they are, or with `clients: shuffled` the same rows dealt to them at random, as many to each."""
    if setting.get("clients", "unlike") == "unlike":
        return matrices, responses
    order = stream(seed, "shuffled clients").permutation(sum(map(len, responses)))
    cuts = np.cumsum([len(b) for b in responses])[:-1]
    return (np.split(np.concatenate(parts)[order], cuts) for parts in (matrices, responses))


def least_squares(matrices, responses, setting, seed, **more):
    """Σ_i ‖A_i x − b_i‖²/(2N_i) + ρ‖x‖²/2, the penalty shared equally by the clients."""
    matrices, responses = dealt(matrices, responses, setting, seed)
    weights = [1.0 / len(b) for b in responses]
    costs = ColumnQuadratics.least_squares(matrices, responses, weights, setting["rho"] / len(matrices))
    return ConsensusProblem(costs, setting, seed, **more)


def sizes(rng, n):
    """N_i ~ lognormal(4, 2) + 50."""
    return np.floor(rng.lognormal(4.0, 2.0, n)).astype(int) + 50


class SyntheticSquares(Tuned):
    n: Count
    d: Count
    sigma: Positive
    rho: Positive


@problem()
def synthetic_least_squares(setting: SyntheticSquares, seed, data=None) -> ConsensusProblem:
    """Setup (1): A_i = η_i Â_i, Â uniform on (0, 1], η_i ~ N(0, 1); b_i = A_i x_0 + v_i, v_i ~ N(0, σ²)."""
    n, d = setting["n"], setting["d"]
    rng = stream(seed, "data", "synthetic_least_squares")
    x0, eta = rng.standard_normal(d), rng.standard_normal(n)
    A = [scale * (1.0 - rng.random((size, d))) for scale, size in zip(eta, sizes(rng, n), strict=True)]
    b = [a @ x0 + setting["sigma"] * rng.standard_normal(len(a)) for a in A]
    return least_squares(A, b, setting, seed)


class Houses(Tuned):
    normalise: Literal["standard", "unit_interval", "unit_rows"]
    rho: Positive


@problem()
def boston(setting: Houses, seed, data) -> ConsensusProblem:
    """Setup (2): rows sorted by the response and dealt to the clients in runs of random length; 13 features and ones.

    "Normalize" is not said how: `standard` (columns to mean 0, variance 1), `unit_interval` or `unit_rows`.
    """
    source = datasets.load(data.dataset, data.root)
    X = NORMALISED[setting["normalise"]](np.asarray(source.X, float))
    runs = partition.read(data.partition, seed, setting).rows
    return least_squares(
        [X[r] for r in runs], [source.y[r] for r in runs], setting, seed, **provenance(source)
    )


NORMALISED = {
    "standard": lambda X: preprocess.with_ones(
        (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    ),
    "unit_interval": lambda X: preprocess.with_ones(preprocess.unit_interval(X)),
    "unit_rows": lambda X: preprocess.unit_rows(preprocess.with_ones(X)),
    "none": preprocess.with_ones,
}


def provenance(source) -> dict:
    return {"origin": source.origin, "title": source.title, "checksum": source.checksum}


# --- (3), (4): logistic regression (C.2) ---


def logistic(matrices, labels, setting, seed, **more):
    """Σ_i (1/N_i) Σ_j log-loss + ρ‖x‖²/2 with labels 0 and 1, the penalty shared equally by the clients."""
    matrices, labels = dealt(matrices, labels, setting, seed)
    signs = [np.where(y > 0, 1.0, -1.0) for y in labels]
    weights = [np.full(len(y), 1.0 / len(y)) for y in labels]
    costs = ColumnLogistic(matrices, signs, weights, setting["rho"] / len(matrices))
    return ConsensusProblem(costs, setting, seed, **more)


READINGS = {"appendix": (20, 30), "main text": (8, 99)}  # n and d of setup (3)


class SyntheticLogistic(Tuned):
    n: Annotated[int, Bounds(2)]
    d: Count
    rho: Positive


class SyntheticReading(Tuned):
    reading: Literal["appendix", "main text"]
    rho: Positive


@problem()
def synthetic_logistic(setting: SyntheticLogistic | SyntheticReading, seed, data=None) -> ConsensusProblem:
    """Setup (3): Synthetic(0.5, 0.5) of Li et al. 2018 with two classes; one client has both labels, the others one.

    How labels are withheld is not stated: a pure client keeps the rows of its label, after its two classes
    have been exchanged where the other one is the commoner.
    """
    n, d = (setting["n"], setting["d"]) if "n" in setting else READINGS[setting["reading"]]
    rng = stream(seed, "data", "synthetic_logistic")
    zeros, ones = pure_clients(n)
    scale = np.arange(1, d + 1) ** -0.6  # the square root of the covariance diag(j^-1.2)
    A, labels = [], []
    for k, size in enumerate(sizes(rng, n)):
        u, centre = 0.5 * rng.standard_normal(2)
        W, c = u + rng.standard_normal((2, d)), u + rng.standard_normal(2)
        mean = centre + rng.standard_normal(d)

        def draw(count, W=W, c=c, mean=mean):
            X = mean + scale * rng.standard_normal((count, d))
            return X, np.argmax(X @ W.T + c, axis=1)

        X, y = draw(size)
        if k < zeros + ones:
            wanted = int(k >= zeros)
            swap = int(np.mean(y == wanted) < 0.5)
            keep = [X[(y ^ swap) == wanted]]
            while sum(map(len, keep)) < size:
                X, y = draw(size)
                keep.append(X[(y ^ swap) == wanted])
            X = np.concatenate(keep)[:size]
            y = np.full(size, wanted)
        A.append(X)
        labels.append(y)
    return logistic(A, labels, setting, seed)


class Mushrooms(Tuned):
    missing: Literal["drop", "keep"]
    normalise: Literal[*NORMALISED]
    rho: Positive


@problem()
def mushroom(setting: Mushrooms, seed, data) -> ConsensusProblem:
    """Setup (4): one-hot attributes and ones; clients of one label but the last, which has both.

    `missing: drop` leaves out the rows without a stalk-root, which gives the paper's d = 99; `keep` gives 118.
    """
    source = datasets.load(data.dataset, data.root)
    letters, y = np.asarray(source.X), np.asarray(source.y)
    kept = np.arange(len(y))
    if setting["missing"] == "drop":
        kept = preprocess.without_missing(letters, MISSING)
    X = NORMALISED[setting["normalise"]](preprocess.one_hot(letters[kept]))
    clients = partition.read(data.partition, seed, setting).rows
    matrices = [X[np.searchsorted(kept, rows)] for rows in clients]
    return logistic(matrices, [y[rows] for rows in clients], setting, seed, **provenance(source))


# --- Theorem 4.1 ---


class RandomQuadratics(Tuned):
    n: Count
    d: Count
    kappa: ConditionNumber


@problem()
def random_quadratics(setting: RandomQuadratics, seed, data=None) -> ConsensusProblem:
    """f_i(x) = ½ xᵀG_i x − c_iᵀx with random eigenvectors and eigenvalues log-uniform in [1, κ], both ends taken."""
    n, d, kappa = setting["n"], setting["d"], setting["kappa"]
    rng = stream(seed, "data", "random_quadratics")
    lam = kappa ** rng.random((n, d))
    lam[:, 0], lam[:, -1] = 1.0, kappa
    Q = np.linalg.qr(rng.standard_normal((n, d, d)))[0]
    G = (Q * lam[:, None]) @ Q.transpose(0, 2, 1)
    return ConsensusProblem(ColumnQuadratics(G, rng.standard_normal((n, d)), np.zeros(n)), setting, seed)


class OpposedQuadratics(Tuned):
    kappa: ConditionNumber


@problem()
def opposed_quadratics(setting: OpposedQuadratics, seed, data=None) -> ConsensusProblem:
    """Two clients with the same Hessian diag(κ, 1) that pull the stiff coordinate apart: only the slowest dual mode,
    of curvature 1/(μ + ℓ), is excited. A candidate counterexample to Theorem 4.1 as printed."""
    G = np.broadcast_to(np.diag([float(setting["kappa"]), 1.0]), (2, 2, 2)).copy()
    return ConsensusProblem(
        ColumnQuadratics(G, np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2)), setting, seed
    )
