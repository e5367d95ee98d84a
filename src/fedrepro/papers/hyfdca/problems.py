"""The problems of Overman, Blum & Klabjan 2023: support vector machines over rectangles of samples x features."""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Literal, NotRequired, TypedDict
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse

from fedrepro import algorithms, datasets
from fedrepro.algorithms.fedavg_hybrid import fedavg_hybrid
from fedrepro.algorithms.hyfdca import hyfdca
from fedrepro.algorithms.hyfem import hyfem
from fedrepro.datasets import partition
from fedrepro.datasets.partition import Grid, hybrid, read_grid
from fedrepro.datasets.preprocess import pixels, unit_interval, unit_rows
from fedrepro.experiments.compromise import best_compromise
from fedrepro.experiments.experiment import expand
from fedrepro.experiments.problem import Data, Problem, problem
from fedrepro.experiments.reference import Reference
from fedrepro.federation import ciphers
from fedrepro.federation.hybrid import HybridClients
from fedrepro.federation.rectangles import Rectangles
from fedrepro.maths import hinge
from fedrepro.maths.domains import Bounds, Count, Natural, NonNegative, NotEmpty, Positive
from fedrepro.maths.seeds import stream
from fedrepro.papers.hyfdca.attack import SEEN, Observer
from fedrepro.papers.hyfdca.protocol import messages, owners

TUNING_SEED = 1_000  # the draw hyper-parameters are chosen on; the seeds of the results start at 0
TAIL = 0.1  # runs are scored by the mean over this last part of their rounds: some settings oscillate
SPENT = {f"{work}_seconds": work for work in ciphers.WORKS}
TUNED = {f.__name__: f for f in (hyfdca, fedavg_hybrid, hyfem)}
AIMS = ("gra", "loss", "accuracy")  # what hyper-parameters may be tuned for
LOOKS = 5  # rounds of that last part that are measured while tuning: a look takes as long as a round
HELD_OUT = 0.2  # of the rows, where no split is published


@dataclass
class Samples:
    """Training and validation rows, where they came from, and what was found out about them once."""

    X: np.ndarray | scipy.sparse.csr_array
    y: np.ndarray
    validation: np.ndarray | scipy.sparse.csr_array
    labels: np.ndarray
    title: str = "synthetic"
    origin: str = "synthetic"
    checksum: str = ""
    features: np.ndarray | None = None  # which columns of the dataset X has, where not all
    known: dict = field(default_factory=dict, repr=False)

    def optimum(self, lam: float) -> dict:
        """P* and D*, shared by all federations of these rows."""
        return self.once(("optimum", lam), lambda: hinge.solve(self.X, self.y, lam))

    def once(self, key, find):
        if key not in self.known:
            self.known[key] = find()
        return self.known[key]


class HingeProblem(Problem):
    """P(w) = λ/2‖w‖² + mean hinge, eq. (1), among clients that own rectangles: `parts` are their rows and columns."""

    federation = HybridClients
    measurable = ("relative_loss", "accuracy", "tuning_accuracy", "dual_gap", "mismatch", *SEEN, *SPENT)

    def __init__(self, samples: Samples, setting: dict, seed: int, parts=None):
        self.samples, self.setting, self.seed = samples, setting, seed
        self.title, self.origin, self.checksum = samples.title, samples.origin, samples.checksum
        *_, self.fraction = read_grid(setting["clients"])
        rng = stream(seed, "partition", "hybrid")
        rows, columns = parts or hybrid(*samples.X.shape, setting["clients"], rng)
        self.data = Rectangles(samples.X, samples.y, rows, columns, setting["lambda"])
        self.rules: dict[str, str] = {}  # the stepsizes a theorem asks for
        self.observers: WeakKeyDictionary = WeakKeyDictionary()  # one for every federation that is watched

    def clients(self, reference: Reference) -> HybridClients:
        return HybridClients(
            self.data,
            fraction=self.fraction,
            cycle=self.setting.get("cycle", 0),
            seed=self.seed,
            constants=reference.constants,
            cipher=self.setting.get("cipher", "none"),
            bits=self.setting.get("bits", 2048),
        )

    def measure(self, name: str, reference: Reference):
        best = reference.facts
        if name == "relative_loss":
            X, y, lam = self.samples.X, self.samples.y, self.data.lam
            return lambda w, clients: hinge.primal(X, y, lam, w) / best["primal"] - 1.0
        if name in ("accuracy", "tuning_accuracy"):
            X, labels = self.validation(tuning=name == "tuning_accuracy")
            return lambda w, clients: accuracy(X, labels, w)
        if name == "dual_gap":  # D(α*) − D(α), of the server's duals
            return lambda w, clients: best["dual"] - self.data.dual(clients.duals())
        if name == "mismatch":  # ‖w − Aα/(λN)‖∞: how stale the weights are
            return lambda w, clients: float(np.abs(w - self.data.combine(clients.duals())).max())
        if name in SEEN:  # what a curious server learns
            return lambda w, clients: self.observer(clients).look(clients).found(name)
        if name in SPENT:  # CPU seconds in the cipher
            return lambda w, clients: clients.spent[SPENT[name]]
        raise LookupError(f"no measure '{name}'; there are {', '.join(self.measurable)}")

    def validation(self, tuning: bool):
        """Where hyper-parameters are tuned, every other validation row is for that and the rest for the results."""
        rows = slice(int(not tuning), None, 2) if "tune" in self.setting else slice(None)
        return self.samples.validation[rows], self.samples.labels[rows]

    def observer(self, clients: HybridClients) -> Observer:
        if clients not in self.observers:
            self.observers[clients] = Observer(clients, self.samples.X[np.concatenate(self.data.groups)])
        return self.observers[clients]

    def choose(self, function, params, reference):
        """`tuned_for` an aim: what the tuning chose; `theorem`: what the theorem at hand asks for."""
        params = {k: self.rules.get(k) if v == "theorem" else v for k, v in params.items()}
        aim = params.pop("tuned_for", None)
        return params if aim is None else params | reference.winners[function.__name__][aim]

    @classmethod
    def tuned(cls, algorithm, setting, params):
        names = setting.get("tune", {}).get(algorithm, {})
        return {"tuned_for", *names} if "tuned_for" in params else set()

    @classmethod
    def meanings(cls, name, value, setting, params):
        if name == "tuned_for":
            if value not in AIMS:
                raise ValueError(f"'{value}' is not one of {', '.join(AIMS)}")
            return ()
        if value != "theorem":
            return (value,)
        if "theorem" not in setting or name not in ("gamma", "share"):
            raise ValueError("'theorem' is for gamma and share where the problem is hyfdca.theorem")
        return (THEOREMS[setting["theorem"]][2 if name == "gamma" else 3],)

    def reference(self) -> Reference:
        """The certified optimum, the time model's constants, and hyper-parameters where a grid is declared."""
        best = self.samples.optimum(self.setting["lambda"])
        facts = {k: best[k] for k in ("primal", "dual", "epochs")}
        facts |= {"gap": facts["primal"] - facts["dual"], "N": self.data.N, "M": self.data.M}
        facts["accuracy"] = accuracy(*self.validation(tuning=False), best["w"])
        if "latency" in self.setting:
            facts["latency"] = self.setting["latency"]
        if "tune" not in self.setting:
            return Reference(facts=facts)
        setting = json.dumps(self.setting, sort_keys=True)
        tables, winners = self.samples.once(("tuned", setting), lambda: tune(self.samples, self.setting))
        return Reference(facts=facts | tables, winners=winners)


def accuracy(X, labels: np.ndarray, w: np.ndarray) -> float:
    """Share of rows on their label's side; a row on the plane counts as positive."""
    return float(np.mean(np.where(X @ w >= 0, 1.0, -1.0) == labels))


# --- hyper-parameters, section 5.1 ---


def tune(samples: Samples, setting: dict) -> tuple[dict, dict]:
    """Run the declared grid of every method once on a draw of its own, and choose by Gray relational analysis
    (final loss, final accuracy, local work), by the final loss alone and by the final accuracy alone.

    The scores of all grid points, `<method> tuning`, and the winners by method and aim.
    """
    problem = HingeProblem(samples, setting, TUNING_SEED)
    ref = Reference(facts={"primal": samples.optimum(setting["lambda"])["primal"]})
    tables, winners = {}, {}
    for method, grid in setting["tune"].items():
        points = list(expand({k: {"grid": v} for k, v in grid.items()}, "paper"))
        scores = np.array([score(problem, ref, TUNED[method], p, setting["tune_rounds"]) for p in points])
        picks = {
            "gra": best_compromise(scores),
            "loss": int(np.nanargmin(scores[:, 0])),
            "accuracy": int(np.lexsort((scores[:, 0], scores[:, 1]))[0]),
        }
        winners[method] = {aim: points[picks[aim]] for aim in AIMS}
        tables[f"{method} tuning"] = np.array(
            [[*point.values(), *score] for point, score in zip(points, scores, strict=True)], float
        )
    return tables, winners


def score(problem, ref: Reference, function, params: dict, rounds: int) -> tuple[float, float, float]:
    """Loss, error rate and local steps a turn; the first two as means over looks at the last rounds."""
    clients = problem.clients(ref)
    meters = [problem.measure(name, ref) for name in ("relative_loss", "tuning_accuracy")]
    looks = {round(r) for r in np.linspace(rounds - max(1, int(TAIL * rounds)), rounds, LOOKS + 1)[1:]}
    found = []
    with np.errstate(over="ignore", invalid="ignore"):
        for t, w in zip(range(1, rounds + 1), function(clients, **params), strict=False):
            if t in looks:
                found.append([meter(w, clients) for meter in meters])
    loss, accuracy = np.mean(found, axis=0)
    return (loss, 1 - accuracy, clients.ledger.local_steps / clients.ledger.turns)


# --- what a setting may say ---


class Split(TypedDict("Penalty", {"lambda": Positive})):
    """Who holds what, and how they meet and exchange; `latency` is the time model's."""

    clients: Grid
    cipher: NotRequired[Literal["none", "paillier", "ckks"]]
    bits: NotRequired[Annotated[int, Bounds(64)]]
    cycle: NotRequired[Natural]
    latency: NotRequired[NonNegative]


class Gaussian(TypedDict("Penalty", {"lambda": Positive})):
    """n rows of m features, labels by a plane with `noise`."""

    n: Count
    m: Count
    noise: NonNegative


def grids(function) -> type:
    """Several values for any of an algorithm's hyper-parameters."""
    known = algorithms.parameters(function)
    lists = {name: NotRequired[Annotated[list[p.annotation], NotEmpty()]] for name, p in known.items()}
    return TypedDict("Grids", lists)


Tune = TypedDict("Tune", {name: NotRequired[grids(function)] for name, function in TUNED.items()})


# --- synthetic data ---


@lru_cache(maxsize=4)
def gaussian_samples(n: int, m: int, noise: float, unit: bool, seed: int) -> Samples:
    rng = stream(seed, "data", "hinge")
    X = rng.standard_normal((2 * n, m))
    y = np.where(X @ rng.standard_normal(m) / np.sqrt(m) + noise * rng.standard_normal(2 * n) > 0, 1.0, -1.0)
    X = unit_rows(X) if unit else X
    return Samples(X[:n], y[:n], X[n:], y[n:])


class Synthetic(Split, Gaussian):
    lengths: NotRequired[Literal["unit", "any"]]


@problem()
def synthetic(setting: Synthetic, seed, data=None) -> HingeProblem:
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


class Theorem(Gaussian):
    theorem: Literal[*THEOREMS]


@problem()
def theorem(setting: Theorem, seed, data=None) -> HingeProblem:
    """Small problems that meet the assumptions of section 4, ‖x_i‖ = 1 among them."""
    clients, cycle, gamma, share = THEOREMS[setting["theorem"]]
    made = synthetic(setting | {"clients": clients, "cycle": cycle}, seed)
    made.rules = {"gamma": gamma, "share": share}
    return made


# --- real data ---


class Real(Split):
    """`positive` are the classes labelled +1, `columns` how features are scaled, `lengths` whether rows are then
    divided by their length."""

    validation: Count | Literal["all"]
    positive: Annotated[list[int], NotEmpty()]
    columns: Literal["bytes", "min-max", "as stored"]
    lengths: Literal["unit", "any"]


class RealTuned(Real):
    tune: Tune
    tune_rounds: Count


@problem()
def real(setting: Real | RealTuned, seed, data: Data) -> HingeProblem:
    """mnist, covtype or news20, prepared as `prepared` says."""
    part = partition.read(data.partition, seed, setting)
    rows = np.unique(np.concatenate(part.rows))
    chosen = (tuple(setting["positive"]), setting["columns"], setting["lengths"])
    samples = prepared(data.dataset, str(data.root), rows.tobytes(), setting["validation"], *chosen)
    place = np.full(datasets.load(data.dataset, data.root).X.shape[1], -1)
    place[samples.features] = np.arange(len(samples.features))
    columns = [np.sort(place[own][place[own] >= 0]) for own in part.columns]
    return HingeProblem(samples, setting, seed, ([np.searchsorted(rows, own) for own in part.rows], columns))


@lru_cache(maxsize=2)
def prepared(
    name: str, root: str, rows: bytes, validation: int | str, positive: tuple, columns: str, lengths: str
) -> Samples:
    """The training `rows` and `validation` held-out ones (a number, or all), labels ±1, sparse, scaled as asked for.

    MNIST's own test set is held out. Where no split is published a share of the rows is, copies of a post on one side.
    Columns are scaled by the training rows' extremes.
    """
    dataset = datasets.load(name, root)
    train, test = np.frombuffer(rows, np.int32), dataset.test
    if len(test) == 0:
        test = np.flatnonzero(partition.held_out(dataset, HELD_OUT))
    if validation != "all":
        test = np.sort(stream(0, "validation", name).permutation(test)[:validation])
    y = np.where(np.isin(np.asarray(dataset.y), positive), 1.0, -1.0)
    scale = {
        "bytes": lambda part: pixels(dataset.X[part]),
        "min-max": lambda part: unit_interval(dataset.X[part], dataset.X[train]),
        "as stored": lambda part: scipy.sparse.csr_array(dataset.X)[part].astype(float),
    }[columns]
    both = [unit_rows(scale(part)) if lengths == "unit" else scale(part) for part in (train, test)]
    X, held = (scipy.sparse.csr_array(part) for part in both)
    count = np.bincount(X.indices, minlength=X.shape[1])
    features = np.arange(X.shape[1])
    if not count.all():  # a feature that no training row has can have no weight
        order = np.argsort(-count, kind="stable")  # often used first: they stay in the cache
        features = order[: np.count_nonzero(count)]
        X, held = (scipy.sparse.csr_array(part[:, features]) for part in (X, held))
        X.sort_indices(), held.sort_indices()
    about = (dataset.title, dataset.origin, dataset.checksum, features)
    return Samples(X, y[train], held, y[test], *about)


# --- the setting and the protocol, drawn ---


class Protocol(Split, Gaussian):
    pass


@problem()
def protocol(setting: Protocol, seed, data=None) -> HingeProblem:
    """A small problem whose reference says who owns what and which messages a round consists of."""
    return ProtocolProblem(
        gaussian_samples(setting["n"], setting["m"], setting["noise"], True, 0), setting, seed
    )


class ProtocolProblem(HingeProblem):
    def reference(self) -> Reference:
        ref = super().reference()
        found = {"messages": messages(self.clients(ref), hyfdca), "owners": owners(self.data)}
        return Reference(facts=ref.facts | found)


# --- encryption ---


class Encrypted(Split, Gaussian):
    cipher: Literal["none", "paillier", "ckks"]
    bits: Annotated[int, Bounds(64)]
    measured_scalars: Count
    timed_bits: Annotated[int, Bounds(64)]


@problem()
def encrypted(setting: Encrypted, seed, data=None) -> HingeProblem:
    """A small problem whose exchanges are really encrypted; its reference holds the ciphers' times, published and
    as measured here (the decrypted sums are checked while measuring)."""
    return EncryptedProblem(
        gaussian_samples(setting["n"], setting["m"], setting["noise"], True, 0), setting, seed
    )


class EncryptedProblem(HingeProblem):
    def reference(self) -> Reference:
        ref = super().reference()
        cipher, size, bits = (self.setting[k] for k in ("cipher", "measured_scalars", "timed_bits"))
        if cipher != "none":
            size = max(size, ciphers.SLOTS) if cipher == "ckks" else size
            found = ciphers.measure(ciphers.make(cipher, bits), size)
            ref.facts |= {f"{k} seconds": v for k, v in found.items()} | {"timed bits": bits}
        ref.facts |= {f"published {k} seconds": v for k, v in ciphers.PUBLISHED.items()}
        return ref
