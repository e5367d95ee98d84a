"""What a federation is to an algorithm: a start, constants, oracles its clients answer, and a ledger that counts.

    class Clients(Federation):
        @oracle("gradient")
        def gradients(self, x):
            self.ledger.work(gradients=self.m)
            return self.costs.gradient(x)

An algorithm names the oracles it `needs`; a federation `offers` those of its class. The two are compared before
anything runs, and since the offer is read off the class itself, no problem can forget to declare it.
"""

from collections.abc import Callable

import numpy as np

from fedrepro.federation.ledger import Ledger
from fedrepro.maths.steps import stepsize


def oracle(name: str) -> Callable:
    """Mark a method as the oracle `name`: something an algorithm may ask of the clients."""

    def mark(method):
        method.oracle = name
        return method

    return mark


class Federation:
    """A server and m clients. Subclasses add oracles and messages; all of them count in the one `ledger`.

    A class whose clients lack an oracle of its parent sets the method to None.
    """

    def __init__(self, m: int, start: np.ndarray, constants: dict | None = None):
        self.m, self.start = m, start
        self.constants = constants or {}  # of the problem: what stepsize rules refer to
        self.ledger = Ledger()

    @classmethod
    def offers(cls) -> frozenset[str]:
        """The oracles these clients have; an algorithm's `needs` must be among them."""
        found = set()
        for name in dir(cls):
            if getattr(cls, name) is not None:  # an override keeps the mark of what it overrides
                found |= {vars(c)[name].oracle for c in cls.__mro__ if hasattr(vars(c).get(name), "oracle")}
        return frozenset(found)

    def step(self, rule: float | str) -> float:
        """A stepsize from a number or a rule such as `1/sqrt(l*L*)`."""
        return stepsize(rule, self.constants)
