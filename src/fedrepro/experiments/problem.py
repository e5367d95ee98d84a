"""Problems: what an experiment solves, built from its setting, its seed and (where it has one) its dataset.

`problem: fedsplit.gaussian_least_squares` in a paper's YAML names a function
`(setting: Setting, seed: int, data: Data | None) -> SomeProblem` in papers/fedsplit/problems, decorated with `@problem()`.
`Setting` is a TypedDict of its parameters and the sets they lie in; `data` has a default where none are needed. The return
annotation says which class of problem it makes, and so which federation it will have.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import is_typeddict

import numpy as np

from fedrepro.experiments.experiment import Experiment
from fedrepro.experiments.reference import Reference, solve
from fedrepro.experiments.registry import problem
from fedrepro.federation.clients import Clients
from fedrepro.federation.protocol import Federation
from fedrepro.maths import domains

Meter = Callable[[np.ndarray, Federation], float]  # of the server's point and the clients as they stand


@dataclass
class Problem:
    """Local costs, a start, and what can be measured at the server's point."""

    costs: object
    start: np.ndarray | None = None
    origin: str = "synthetic"  # where the data came from; travels into every trace row
    title: str = "synthetic"  # what the data really are, for figures
    checksum: str = ""
    measures: dict[str, Callable[[np.ndarray], float]] = field(default_factory=dict)  # besides gap and value

    federation = Clients  # the class of its clients; what it offers is known before anything is built
    measurable: tuple[str, ...] = ("gap", "distance", "value")  # what `measure` knows
    keeps_point = False  # whether the best final point of a block is stored with its trace

    def clients(self, reference: Reference) -> Federation:
        """A fresh federation, its ledger at zero."""
        return self.federation(self.costs, self.start, reference.constants)

    def measure(self, name: str, reference: Reference) -> Meter:
        if name in self.measures:
            return lambda x, clients: self.measures[name](x)
        if name == "gap":
            return lambda x, clients: self.costs.gap(x, reference.optimum)
        if name == "distance":
            return lambda x, clients: float(np.linalg.norm(x - reference.optimum))
        if name == "value":
            return lambda x, clients: float(
                np.sum(self.costs.value(np.broadcast_to(x, (self.costs.m, *x.shape))))
            )
        raise LookupError(
            f"this problem has no measure '{name}'; it has gap, distance, value {' '.join(self.measures)}"
        )

    def choose(self, function: Callable, params: dict, reference: Reference) -> dict:
        """The hyper-parameters to run with; a problem that tunes puts winners where `params` asks for them."""
        return params

    @classmethod
    def tuned(cls, algorithm: str, setting: dict, params: dict) -> set[str]:
        """The names of the hyper-parameters that `choose` will find by itself."""
        return set()

    @classmethod
    def meanings(cls, name: str, value, setting: dict, params: dict) -> tuple:
        """What a hyper-parameter written so may be once `choose` has seen it: itself, or the ends of a range, …
        A ValueError says why it cannot be written so."""
        return (value,)

    def reference(self) -> Reference:
        """The optimum and the constants that stepsize rules refer to; computed once and shared."""
        return solve(self.costs, self.start)

    def geometry(self) -> dict[str, np.ndarray]:
        """Where the coordinates of a kept point lie, for pictures."""
        return {}


@dataclass(frozen=True)
class Data:
    """Where an experiment's real data lie: the dataset's name and the saved partition."""

    dataset: str
    partition: Path | None
    root: Path = Path("data")

    @classmethod
    def of(cls, experiment: Experiment, partition: str | None) -> "Data | None":
        """None for synthetic problems."""
        if experiment.dataset == "synthetic":
            return None
        return cls(experiment.dataset, Path(partition) if partition else None)


def get(name: str) -> Callable:
    """`fedsplit.gaussian_least_squares`: the paper and the function's name."""
    paper, _, function = name.partition(".")
    return problem.get(paper, function)


def kind(function: Callable) -> type[Problem]:
    """The class of problem a function makes, as it says itself."""
    made = inspect.signature(function, eval_str=True).return_annotation
    if not (isinstance(made, type) and issubclass(made, Problem)):
        raise LookupError(
            f"the problem '{function.__name__}' must say which class of Problem it returns: -> …"
        )
    return made


def setting_of(function: Callable) -> object:
    """The declaration of a problem's parameters: a TypedDict, or several to choose from."""
    declared = inspect.signature(function, eval_str=True).parameters["setting"].annotation
    if not all(map(is_typeddict, domains.alternatives(declared))):
        raise LookupError(
            f"the problem '{function.__name__}' must declare its parameters: setting: <a TypedDict>"
        )
    return declared


def needs_data(function: Callable) -> bool:
    """Whether it is built from a dataset and a partition."""
    data = inspect.signature(function).parameters["data"]
    return data.default is data.empty
