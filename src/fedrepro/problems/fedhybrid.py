"""The four setups of Niu & Wei (section 5, Appendix C.1), and quadratics for their Theorem 4.1."""

import numpy as np

from fedrepro import datasets, lagrangian, preprocess, reference, tuning
from fedrepro.columns import ColumnLogistic, ColumnQuadratics
from fedrepro.costs import Quadratics
from fedrepro.datasets.mushroom import MISSING
from fedrepro.primal_dual import HybridClients
from fedrepro.problems import Problem, problem
from fedrepro.runner import BLOW_UP
from fedrepro.seeds import stream

OFFERS = {"value", "gradient", "hessian", "curvature", "pooled"}


class HybridProblem(Problem):
    """Tunes every method with the same budget; measures the paper's errors and the metric (4.1)."""

    def __init__(self, costs, setting, seed, **more):
        super().__init__(costs, np.zeros(costs.shape), **more)
        self.budget = tuning.Budget(
            setting.get("points", 0), setting.get("horizon", 0), setting.get("score", "decay")
        )
        self.order = stream(seed, "newton clients").permutation(costs.m)

    def clients(self, ref):
        self.federation, self.measured = HybridClients(self.costs, self.start, ref), (None, None)
        return self.federation

    def reference(self):
        """The optimum; ℓ and L of the clients (low, high) and of the mean; who turns Newton first."""
        quadratic = isinstance(self.costs, Quadratics)
        solve = reference.minimum_of_quadratics if quadratic else reference.minimum_by_newton
        x = solve(self.costs)
        rows = np.broadcast_to(x, (self.costs.m, *x.shape))
        low, high = self.costs.bounds()
        return {
            "x": x,
            "value": float(np.sum(self.costs.value(rows))),
            "residual": float(np.linalg.norm(self.costs.gradient(rows).sum(axis=0))),
            "low": low,
            "high": high,
            "l*": float(low.min()),
            "L*": float(high.max()),
            "l_F": float(np.linalg.eigvalsh(self.costs.hessian(rows).mean(axis=0))[0]),
            "L_F": float(np.linalg.eigvalsh(self.costs.ceilings().mean(axis=0))[-1]),
            "order": self.order,
        }

    def choose(self, function, params, ref):
        """Replace every range [low, high] among the hyper-parameters, and what is `like` one, by the grid search's
        winner."""
        params = {
            name: params[value.removeprefix("like ")] if str(value).startswith("like ") else value
            for name, value in params.items()
        }
        ranges = {name: value for name, value in params.items() if isinstance(value, list)}
        if not ranges:
            return params
        first, rough = self.costs.gap(self.start, ref["x"]), self.costs.single()
        kind = np.float64 if rough is self.costs else np.float32

        def gaps(columns, rounds):
            count = len(next(iter(columns.values())))
            trials = HybridClients(rough, np.zeros((*rough.shape, count), kind), ref)
            run = function(trials, **params | {name: column.astype(kind) for name, column in columns.items()})
            out = np.full((rounds + 1, count), np.inf)
            out[0] = first
            for k in range(1, rounds + 1):
                try:
                    out[k] = self.costs.gap(next(run).astype(float), ref["x"])
                except np.linalg.LinAlgError:
                    break
                lost = ~(out[k] < BLOW_UP * first)
                if np.all(lost | (out[k - 1 : k + 1] < tuning.FLOOR * first).all(axis=0)):
                    out[k + 1 :] = out[k]
                    break
            return out

        return params | tuning.search(gaps, ranges, self.budget)

    def measure(self, name, ref):
        if name == "distance":  # ‖x_0 − x*‖/‖x*‖, figure 3(a)
            return lambda x: float(np.linalg.norm(x - ref["x"]) / np.linalg.norm(ref["x"]))
        if name in ("tracking_error", "dual_gap"):  # (4.1), at the clients' points and duals
            return lambda x: self.metric(ref)[name == "dual_gap"]
        return super().measure(name, ref)

    def metric(self, ref):
        state = self.federation
        if np.isnan(state.mu):  # nothing sent yet, and μ is the algorithm's
            return np.nan, np.nan
        if self.measured[0] is not state.primal:  # both numbers come from one inner solve
            found = lagrangian.metric(self.costs, ref["x"], state.primal, state.dual, state.mu)
            self.measured = (state.primal, found)
        return self.measured[1]


# --- (1), (2): least squares (C.1) ---


def least_squares(matrices, responses, setting, seed, **more):
    """Σ_i ‖A_i x − b_i‖²/(2N_i) + ρ‖x‖²/2, the penalty shared equally by the clients."""
    weights = [1.0 / len(b) for b in responses]
    costs = ColumnQuadratics.least_squares(matrices, responses, weights, setting["rho"] / len(matrices))
    return HybridProblem(costs, setting, seed, **more)


def sizes(rng, n):
    """N_i ~ lognormal(4, 2) + 50."""
    return np.floor(rng.lognormal(4.0, 2.0, n)).astype(int) + 50


@problem(offers=OFFERS)
def synthetic_least_squares(setting, seed, data=None):
    """Setup (1): A_i = η_i Â_i, Â uniform on (0, 1], η_i ~ N(0, 1); b_i = A_i x_0 + v_i, v_i ~ N(0, σ²)."""
    n, d = setting["n"], setting["d"]
    rng = stream(seed, "data", "synthetic_least_squares")
    x0, eta = rng.standard_normal(d), rng.standard_normal(n)
    A = [scale * (1.0 - rng.random((size, d))) for scale, size in zip(eta, sizes(rng, n), strict=True)]
    b = [a @ x0 + setting["sigma"] * rng.standard_normal(len(a)) for a in A]
    return least_squares(A, b, setting, seed)


@problem(offers=OFFERS)
def boston(setting, seed, data):
    """Setup (2): rows sorted by the response and dealt to the clients in runs of random length; 13 features and ones.

    "Normalize" is not said how: `standard` (columns to mean 0, variance 1), `unit_interval` or `unit_rows`.
    """
    source = datasets.load(data.dataset, data.root)
    X = NORMALISED[setting["normalise"]](np.asarray(source.X, float))
    runs = random_runs(stream(seed, "partition", "boston"), np.argsort(source.y, kind="stable"), setting["n"])
    return least_squares(
        [X[r] for r in runs], [source.y[r] for r in runs], setting, seed, **provenance(source)
    )


NORMALISED = {
    "standard": lambda X: preprocess.with_ones((X - X.mean(axis=0)) / X.std(axis=0)),
    "unit_interval": lambda X: preprocess.with_ones(preprocess.unit_interval(X)),
    "unit_rows": lambda X: preprocess.unit_rows(preprocess.with_ones(X)),
}


def random_runs(rng, rows, n, shares=None) -> list[np.ndarray]:
    """Cut `rows` in n consecutive runs: N_i "following a uniform distribution", here U(½, 3/2) times the mean."""
    shares = rng.uniform(0.5, 1.5, n) if shares is None else shares
    cuts = np.round(np.cumsum(shares) / np.sum(shares) * len(rows)).astype(int)[:-1]
    return np.split(rows, cuts)


def provenance(source) -> dict:
    return {"origin": source.origin, "title": source.title, "checksum": source.checksum}


# --- (3), (4): logistic regression (C.2) ---


def logistic(matrices, labels, setting, seed, **more):
    """Σ_i (1/N_i) Σ_j log-loss + ρ‖x‖²/2 with labels 0 and 1, the penalty shared equally by the clients."""
    signs = [np.where(y > 0, 1.0, -1.0) for y in labels]
    weights = [np.full(len(y), 1.0 / len(y)) for y in labels]
    costs = ColumnLogistic(matrices, signs, weights, setting["rho"] / len(matrices))
    return HybridProblem(costs, setting, seed, **more)


def pure_clients(n: int) -> tuple[int, int]:
    """How many clients hold only label 0 and only label 1: eleven and eight of 20, four and three of 8."""
    zeros = round(0.58 * (n - 1))
    return zeros, n - 1 - zeros


READINGS = {"appendix": (20, 30), "main text": (8, 99)}  # n and d of setup (3)


@problem(offers=OFFERS)
def synthetic_logistic(setting, seed, data=None):
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


@problem(offers=OFFERS)
def mushroom(setting, seed, data):
    """Setup (4): one-hot attributes and ones, unit rows; clients of one label but the last, which has both.

    `missing: drop` leaves out the rows without a stalk-root, which gives the paper's d = 99; `keep` gives 118.
    """
    source = datasets.load(data.dataset, data.root)
    rng = stream(seed, "partition", "mushroom")
    letters, y = np.asarray(source.X), np.asarray(source.y)
    if setting["missing"] == "drop":
        kept = preprocess.without_missing(letters, MISSING)
        letters, y = letters[kept], y[kept]
    X = NORMALISED["unit_rows"](preprocess.one_hot(letters))
    take = setting.get("rows", len(y))  # a random part of them, at reduced scales
    rows = np.sort(rng.permutation(len(y))[:take])
    clients, both = [], []
    for label, count in enumerate(pure_clients(setting["n"])):
        own = rng.permutation(rows[y[rows] == label])
        *pure, last = random_runs(rng, own, count + 1, [*rng.uniform(0.5, 1.5, count), 0.5])
        clients, both = clients + pure, [*both, last]
    clients.append(np.concatenate(both))
    return logistic([X[r] for r in clients], [y[r] for r in clients], setting, seed, **provenance(source))


# --- Theorem 4.1 ---


@problem(offers=OFFERS)
def random_quadratics(setting, seed, data=None):
    """f_i(x) = ½ xᵀG_i x − c_iᵀx with random eigenvectors and eigenvalues log-uniform in [1, κ], both ends taken."""
    n, d, kappa = setting["n"], setting["d"], setting["kappa"]
    rng = stream(seed, "data", "random_quadratics")
    lam = kappa ** rng.random((n, d))
    lam[:, 0], lam[:, -1] = 1.0, kappa
    Q = np.linalg.qr(rng.standard_normal((n, d, d)))[0]
    G = (Q * lam[:, None]) @ Q.transpose(0, 2, 1)
    return HybridProblem(ColumnQuadratics(G, rng.standard_normal((n, d)), np.zeros(n)), setting, seed)


@problem(offers=OFFERS)
def opposed_quadratics(setting, seed, data=None):
    """Two clients with the same Hessian diag(κ, 1) that pull the stiff coordinate apart: only the slowest dual mode,
    of curvature 1/(μ + ℓ), is excited. A candidate counterexample to Theorem 4.1 as printed."""
    G = np.broadcast_to(np.diag([float(setting["kappa"]), 1.0]), (2, 2, 2)).copy()
    return HybridProblem(ColumnQuadratics(G, np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2)), setting, seed)
