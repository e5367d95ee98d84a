"""The problems of Overman, Blum & Klabjan 2023: support vector machines over rectangles of samples x features."""

import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse

from fedrepro import ciphers, datasets, gra, sdca
from fedrepro.hybrid import HybridClients
from fedrepro.partition import hybrid
from fedrepro.preprocess import pixels, signs, unit_interval, unit_rows
from fedrepro.problems import Data, Problem, problem
from fedrepro.rectangles import Rectangles
from fedrepro.seeds import stream

TUNING_SEED = 1_000  # the draw hyper-parameters are chosen on; the seeds of the results start at 0
TAIL = 0.1  # a run is scored by the mean of this last part of its rounds: some settings oscillate


@dataclass
class Samples:
    """Training and validation rows, and where they came from."""

    X: np.ndarray | scipy.sparse.csr_array
    y: np.ndarray
    validation: np.ndarray | scipy.sparse.csr_array
    labels: np.ndarray
    title: str = "synthetic"
    origin: str = "synthetic"
    checksum: str = ""


class HingeProblem(Problem):
    """P(w) = λ/2‖w‖² + mean hinge, eq. (1), among clients that own rectangles."""

    def __init__(self, samples: Samples, setting: dict, seed: int):
        self.samples, self.setting, self.seed = samples, setting, seed
        self.title, self.origin, self.checksum = samples.title, samples.origin, samples.checksum
        self.row_blocks, self.column_blocks, self.fraction = read_clients(setting["clients"])
        rng = stream(seed, "partition", "hybrid")
        rows, columns = hybrid(*samples.X.shape, self.row_blocks, self.column_blocks, rng)
        self.data = Rectangles(samples.X, samples.y, rows, columns, setting["lambda"])
        self.federation: HybridClients | None = None
        self.rules: dict[str, str] = {}  # the stepsizes a theorem asks for

    def clients(self, reference: dict) -> HybridClients:
        self.federation = HybridClients(
            self.data,
            fraction=self.fraction,
            cycle=self.setting.get("cycle", 0),
            seed=self.seed,
            constants=reference | self.rules,
            cipher=self.setting.get("cipher", "none"),
            bits=self.setting.get("bits", 2048),
        )
        return self.federation

    def measure(self, name: str, reference: dict):
        if name == "relative_loss":
            X, y, lam = self.samples.X, self.samples.y, self.data.lam
            return lambda w: sdca.primal(X, y, lam, w) / reference["primal"] - 1.0
        if name == "accuracy":
            X, labels = self.samples.validation, self.samples.labels
            return lambda w: accuracy(X, labels, w)
        if name == "dual_gap":  # D(α*) − D(α), of the server's duals
            return lambda w: reference["dual"] - self.data.dual(self.federation.duals())
        if name == "mismatch":  # ‖w − Aα/(λN)‖∞: how stale the weights are
            return lambda w: float(np.abs(w - self.data.combine(self.federation.duals())).max())
        raise LookupError(f"no measure '{name}'; there are relative_loss, accuracy, dual_gap and mismatch")

    def identity(self, function, params, reference) -> str:
        """Aims for which the tuning chose the same point share its run."""
        end = f", by {params.get('tuned_for')}"
        values = {
            name.removesuffix(end): value
            for name, value in reference.items()
            if name.startswith(f"{function.__name__} ") and name.endswith(end)
        }
        rest = {name: value for name, value in params.items() if name != "tuned_for" or not values}
        return super().identity(function, rest | values, reference)

    def reference(self) -> dict:
        """The certified optimum, the time model's constants, and hyper-parameters where a grid is declared."""
        best = optimum(self.samples, self.setting["lambda"])
        ref = {k: best[k] for k in ("primal", "dual", "epochs")}
        ref |= {"gap": ref["primal"] - ref["dual"], "N": self.data.N, "M": self.data.M}
        ref["accuracy"] = accuracy(self.samples.validation, self.samples.labels, best["w"])
        if "latency" in self.setting:
            ref["latency"] = self.setting["latency"]
        if "tune" in self.setting:
            ref |= tuned(self.samples, json.dumps(self.setting, sort_keys=True))
        return ref


def accuracy(X, labels: np.ndarray, w: np.ndarray) -> float:
    """Share of rows on their label's side; a row on the plane counts as positive."""
    return float(np.mean(np.where(X @ w >= 0, 1.0, -1.0) == labels))


def read_clients(text: str) -> tuple[int, int, float]:
    """`5x4@0.5`: five row blocks by four column blocks, half of the clients available in a round."""
    blocks, _, fraction = text.partition("@")
    rows, _, columns = blocks.partition("x")
    return int(rows), int(columns), float(fraction or 1)


_optima: dict = {}


def optimum(samples: Samples, lam: float) -> dict:
    """P* and D* of one training set, shared by all its federations."""
    key = (id(samples.X), lam)
    if key not in _optima:
        _optima[key] = sdca.solve(samples.X, samples.y, lam) | {"keep": samples.X}
    return _optima[key]


# --- hyper-parameters, section 5.1 ---

_tuned: dict = {}


def tuned(samples: Samples, setting: str) -> dict:
    """Run the declared grid of every method once on a draw of its own, and choose by Gray Relational Analysis
    (final loss, final accuracy, local work), by the final loss alone and by the final accuracy alone."""
    key = (id(samples.X), setting)
    if key not in _tuned:
        given = json.loads(setting)
        problem = HingeProblem(samples, given, TUNING_SEED)
        ref = {"primal": optimum(samples, given["lambda"])["primal"]}
        _tuned[key] = {
            name: value
            for method, grid in given["tune"].items()
            for name, value in choices(problem, ref, method, grid, given["tune_rounds"]).items()
        }
    return _tuned[key]


def choices(problem: HingeProblem, ref: dict, method: str, grid: dict, rounds: int) -> dict:
    from fedrepro.algorithms.fedavg_hybrid import fedavg_hybrid
    from fedrepro.algorithms.hyfdca import hyfdca
    from fedrepro.algorithms.hyfem import hyfem
    from fedrepro.config import expand

    function = {f.__name__: f for f in (hyfdca, fedavg_hybrid, hyfem)}[method]
    points = list(expand({k: {"grid": v} for k, v in grid.items()}, "paper"))
    scores = [score(problem, ref, function, params, rounds) for params in points]
    scores = np.array(scores)
    picks = {
        "gra": gra.choose(scores),
        "loss": int(np.nanargmin(scores[:, 0])),
        "accuracy": int(np.lexsort((scores[:, 0], scores[:, 1]))[0]),
    }
    found = {f"{method} {name}, by {aim}": points[i][name] for aim, i in picks.items() for name in grid}
    table = np.array([[*point.values(), *score] for point, score in zip(points, scores, strict=True)], float)
    return found | {f"{method} tuning": table}


def score(
    problem: HingeProblem, ref: dict, function, params: dict, rounds: int
) -> tuple[float, float, float]:
    """Loss, error rate and local steps a turn; the first two as means over the last rounds."""
    clients = problem.clients(ref)
    meters = [problem.measure(name, ref) for name in ("relative_loss", "accuracy")]
    found = []
    with np.errstate(over="ignore", invalid="ignore"):
        for round, w in zip(range(1, rounds + 1), function(clients, **params), strict=False):
            if round > rounds - max(1, int(TAIL * rounds)):
                found.append([meter(w) for meter in meters])
    loss, accuracy = np.mean(found, axis=0)
    return (loss, 1 - accuracy, clients.ledger.local_steps / clients.ledger.turns)


# --- synthetic data ---


@lru_cache(maxsize=4)
def gaussian_samples(n: int, m: int, noise: float, unit: bool, seed: int) -> Samples:
    rng = stream(seed, "data", "hinge")
    X = rng.standard_normal((2 * n, m))
    y = np.where(X @ rng.standard_normal(m) / np.sqrt(m) + noise * rng.standard_normal(2 * n) > 0, 1.0, -1.0)
    X = unit_rows(X) if unit else X
    return Samples(X[:n], y[:n], X[n:], y[n:])


@problem(offers={"rectangles"})
def synthetic(setting, seed, data=None):
    """Gaussian rows of unit length (or not), labels by a noisy plane. The data are the same for every seed: seeds
    draw the partition and the algorithm's choices, over which the theorems take expectations."""
    unit = setting.get("lengths", "unit") == "unit"
    return HingeProblem(
        gaussian_samples(setting["n"], setting["m"], setting["noise"], unit, 0), setting, seed
    )


THEOREMS = {  # clients, cyclic groups, and what goes with them: γ_t, c_k
    "4.5": ("2x2@1", 0, "1", "N_k/N"),
    "4.8": ("4x1@0.5", 0, "1", "1"),
    "4.11 C=2": ("1x4@1", 2, "1/t", "1"),
    "4.11 C=4": ("1x4@1", 4, "1/t", "1"),
}


@problem(offers={"rectangles"})
def theorem(setting, seed, data=None):
    """Small problems that meet the assumptions of section 4, ‖x_i‖ = 1 among them."""
    clients, cycle, gamma, share = THEOREMS[setting["theorem"]]
    made = synthetic(setting | {"clients": clients, "cycle": cycle}, seed)
    made.rules = {"gamma": gamma, "share": share}
    return made


# --- real data ---


@problem(offers={"rectangles"})
def real(setting, seed, data: Data):
    """mnist, covtype or news20, prepared as `prepared` says."""
    samples = prepared(data.dataset, str(data.root), setting["rows"], setting["validation"])
    return HingeProblem(samples, setting, seed)


@lru_cache(maxsize=2)
def prepared(name: str, root: str, rows: int, validation: int) -> Samples:
    """At most `rows` training and `validation` held-out rows, as unit vectors, labels ±1, sparse.

    MNIST: even against odd digits, its own test set held out. covtype: class 2 against the rest (as LIBSVM's
    covtype.binary), columns scaled to [0, 1]. news20: its two classes. Where no split is published a fifth of
    the rows is held out, copies of a post on one side.
    """
    dataset = datasets.load(name, root)
    train, test = dataset.train, dataset.test
    rng = stream(0, "validation", name)
    if len(test) == 0:
        group = np.arange(len(dataset.y)) if dataset.groups is None else np.asarray(dataset.groups)
        out = rng.random(group.max() + 1)[group] < 0.2
        train, test = np.flatnonzero(~out), np.flatnonzero(out)
    train, test = (
        np.sort(rng.permutation(part)[:size]) for part, size in ((train, rows), (test, validation))
    )
    y = np.asarray(dataset.y)
    if name == "mnist":
        y = np.where(y % 2 == 0, 1.0, -1.0)
        both = [unit_rows(pixels(dataset.X[part])) for part in (train, test)]
    elif name == "covtype":
        y = signs(y, 2)
        both = [unit_rows(unit_interval(dataset.X[part], dataset.X[train])) for part in (train, test)]
    else:
        y = signs(y, 1)
        both = [unit_rows(scipy.sparse.csr_array(dataset.X)[part].astype(float)) for part in (train, test)]
    X, held = (scipy.sparse.csr_array(part) for part in both)
    count = np.bincount(X.indices, minlength=X.shape[1])
    if not count.all():  # a feature that no training row has can have no weight
        order = np.argsort(-count, kind="stable")  # often used first: they stay in the cache
        used = order[: np.count_nonzero(count)]
        X, held = (scipy.sparse.csr_array(part[:, used]) for part in (X, held))
        X.sort_indices(), held.sort_indices()
    return Samples(X, y[train], held, y[test], dataset.title, dataset.origin, dataset.checksum)


# --- encryption ---


@problem(offers={"rectangles"})
def encrypted(setting, seed, data=None):
    """A small problem whose exchanges are really encrypted; its reference holds the ciphers' times, published and
    as measured here (the decrypted sums are checked while measuring)."""
    return EncryptedProblem(
        gaussian_samples(setting["n"], setting["m"], setting["noise"], True, 0), setting, seed
    )


class EncryptedProblem(HingeProblem):
    def reference(self) -> dict:
        ref = super().reference()
        cipher, size = self.setting["cipher"], self.setting["measured_scalars"]
        if cipher != "none":
            size = max(size, ciphers.SLOTS) if cipher == "ckks" else size
            found = ciphers.measure(ciphers.make(cipher, self.setting["bits"]), size)
            ref |= {f"{k} seconds": v for k, v in found.items()}
        return ref | {f"published {k} seconds": v for k, v in ciphers.PUBLISHED.items()}
