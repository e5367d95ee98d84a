"""Problems: what an experiment solves, built from its setting, its seed and (where it has one) its dataset.

`problem: fedsplit.gaussian_least_squares` in a paper's YAML names a function
`(setting: dict, seed: int, data: Data | None) -> Problem` in the module problems/fedsplit.py, decorated with
`@problem(offers={…})`.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fedrepro.federation import Clients


@dataclass
class Problem:
    """Local costs, a start, and what can be measured at the server's point."""

    costs: object
    start: np.ndarray | None = None
    origin: str = "synthetic"  # where the data came from; travels into every trace row
    title: str = "synthetic"  # what the data really are, for figures
    checksum: str = ""
    measures: dict[str, Callable[[np.ndarray], float]] = field(default_factory=dict)  # besides gap and value
    keeps_point = False  # whether the best final point of a block is stored with its trace

    def clients(self, reference: dict) -> Clients:
        """A fresh federation, its ledger at zero."""
        return Clients(self.costs, self.start, reference)

    def measure(self, name: str, reference: dict) -> Callable[[np.ndarray], float]:
        if name in self.measures:
            return self.measures[name]
        if name == "gap":
            return lambda x: self.costs.gap(x, reference["x"])
        if name == "value":
            return lambda x: float(np.sum(self.costs.value(np.broadcast_to(x, (self.costs.m, *x.shape)))))
        raise LookupError(
            f"this problem has no measure '{name}'; it has gap, value {' '.join(self.measures)}"
        )

    def choose(self, function: Callable, params: dict, reference: dict) -> dict:
        """The hyper-parameters to run with; a problem that tunes puts winners where `params` has ranges."""
        return params

    def identity(self, function: Callable, params: dict, reference: dict) -> str:
        """The same for hyper-parameters, as chosen, that give the same cell."""
        return repr(sorted(params.items()))

    def reference(self) -> dict:
        """The optimum and the constants that stepsize rules refer to; computed once and shared."""
        from fedrepro.reference import solve

        return solve(self.costs, self.start)


@dataclass(frozen=True)
class Data:
    """Where an experiment's real data lie: the dataset's name and the saved partition."""

    dataset: str
    partition: Path | None
    root: Path = Path("data")


def problem(offers: set[str]) -> Callable:
    """Declare which oracles the problem's clients have, so that a mismatch is found before anything runs."""

    def declare(function):
        function.offers = frozenset(offers)
        return function

    return declare


SMOOTH = {"value", "gradient", "hessian", "prox"}


def get(name: str) -> Callable:
    module, _, function = name.partition(".")
    try:
        return getattr(importlib.import_module(f"{__name__}.{module}"), function)
    except (ImportError, AttributeError) as error:
        raise LookupError(
            f"no problem '{name}': expected the function {function} in problems/{module}.py"
        ) from error
