"""One file per algorithm, named after it; each reads like the paper's box.

An algorithm is a generator function `name(clients, *, …)` in the module `name`, decorated with
`@algorithm(needs={…})`. It yields the server's point once a round, for as long as it is asked.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable


def algorithm(needs: set[str]) -> Callable:
    """Declare which oracles (value, gradient, hessian, prox, …) the algorithm calls."""

    def declare(function):
        function.needs = frozenset(needs)
        return function

    return declare


def names() -> list[str]:
    """Every algorithm found in this folder."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.ispkg)


def get(name: str) -> Callable:
    function = getattr(importlib.import_module(f"{__name__}.{name}"), name, None)
    if function is None or not hasattr(function, "needs"):
        raise LookupError(
            f"algorithms/{name}.py must define a function '{name}' decorated with @algorithm(needs={{…}})"
        )
    return function


def parameters(function: Callable) -> dict[str, inspect.Parameter]:
    """The hyper-parameters: the keyword-only arguments of the generator."""
    found = inspect.signature(function).parameters
    return {n: p for n, p in found.items() if p.kind is inspect.Parameter.KEYWORD_ONLY}
