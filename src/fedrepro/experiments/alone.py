"""An algorithm on clients of one's own, without configuration or files."""

import copy
from collections.abc import Callable

import numpy as np

from fedrepro import algorithms
from fedrepro.federation.clients import Clients
from fedrepro.federation.ledger import Ledger


def run(algorithm: str | Callable, clients: Clients, *, rounds: int, **parameters) -> dict[str, np.ndarray]:
    """Pull so many rounds of an algorithm, by name or a function of one's own, and return its history, column by column:
    `round`, `gap` (of the mean of the clients' costs to its minimum), and everything the federation counted: `exchanges`,
    `floats_up`, `floats_down`, `gradients`, `hessians`, `proxes` and so on; the last point is `x`.

        clients = Clients.from_arrays(X, y, loss="logistic", ridge=0.01)
        history = run("fedsplit", clients, rounds=100)
    """
    if isinstance(algorithm, str) and algorithm not in algorithms.names():
        raise LookupError(f"no algorithm '{algorithm}'; there are {', '.join(algorithms.names())}")
    function = algorithms.get(algorithm) if isinstance(algorithm, str) else algorithm
    lacking = getattr(function, "needs", frozenset()) - clients.offers()
    if lacking:
        raise LookupError(
            f"{function.__name__} needs the oracle {', '.join(sorted(lacking))}, which these clients do not offer"
        )
    unknown = sorted(set(parameters) - set(algorithms.parameters(function)))
    if unknown:
        known = ", ".join(algorithms.parameters(function)) or "none"
        raise TypeError(f"{function.__name__} has no parameter '{unknown[0]}'; it has {known}")
    clients = copy.copy(clients)
    clients.ledger = Ledger()  # every run counts from zero
    x, rows = clients.start, []
    steps = function(clients, **parameters)
    for round in range(rounds + 1):
        x = next(steps) if round else x
        best = getattr(clients, "optimum", None)  # streamed clients may know none
        gap = np.nan if best is None else clients.costs.gap(x, best) / clients.m
        rows.append({"round": round, "gap": gap} | clients.ledger.row())
    return {name: np.array([row[name] for row in rows]) for name in rows[0]} | {"x": x}
