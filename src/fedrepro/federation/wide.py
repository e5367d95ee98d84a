"""Clients whose models are too wide to keep one each: their stacks are spans of shared and own directions."""

import numpy as np

from fedrepro.federation.clients import Clients
from fedrepro.maths.wide import Span


class WideClients(Clients):
    """What they send is still d × K floats each."""

    values = hessians = None  # of full size: nobody forms them

    def stack(self, x):
        return self.costs.stack(x)

    def average(self, z: Span):
        self.ledger.up(self.m * int(np.prod(self.shape)), self.m)
        return self.costs.mean(z)

    def _rows(self, x):
        return x if isinstance(x, Span) else self.costs.stack(x)
