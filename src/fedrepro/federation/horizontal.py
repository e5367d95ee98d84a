"""Hybrid clients that hold whole samples: the horizontal limit, in which duals need never be sent."""

import numpy as np

from fedrepro.federation.hybrid import HybridClients
from fedrepro.federation.protocol import oracle
from fedrepro.federation.rectangles import Rectangles


class HorizontalClients(HybridClients):
    """Every sample has one holder, who knows all of its features; methods for rectangles run on it as they are."""

    def __init__(self, data: Rectangles, **more):
        shared = sum(len(holders) > 1 for holders in data.holders)
        if shared:
            raise ValueError(f"{shared} groups of samples have several holders: not whole samples")
        super().__init__(data, **more)

    @oracle("whole_samples")
    def collect_changes(self, changes: dict[int, np.ndarray]) -> None:
        """Clients send what they change of the weights of their features; the server adds it."""
        for k, change in changes.items():
            self.server.w[self.data.clients[k].columns] += change
        self.ledger.up(sum(map(len, changes.values())), len(changes))
