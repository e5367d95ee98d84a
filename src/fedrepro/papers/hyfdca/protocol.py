"""What figures 1 and 2 of Overman, Blum & Klabjan 2023 draw, read off the federation itself: who owns which entries of
the data, and which messages a round consists of."""

import numpy as np

from fedrepro.federation.hybrid import HybridClients
from fedrepro.federation.ledger import Ledger
from fedrepro.federation.rectangles import Rectangles

STEPS = ("send_duals", "primal_aggregation", "secure_inner_product", "collect_duals")


class Diary(Ledger):
    """A ledger that also keeps every message: its step, up or down, sealed or in the clear, clients, floats."""

    def __init__(self):
        super().__init__()
        self.pages: list[tuple] = []
        self.step, self.sealed = "", "clear"

    def write(self, way: str, floats: int, clients: int) -> None:
        self.pages.append((self.step, way, self.sealed, clients, floats))

    def down(self, floats, clients):
        self.write("down", floats, clients)
        super().down(floats, clients)

    def up(self, floats, clients, vectors=0.0):
        self.write("up", floats, clients)
        super().up(floats, clients, vectors)

    def encrypt(self, sizes):
        self.sealed = "sealed"
        super().encrypt(sizes)
        self.sealed = "clear"

    def decrypt(self, sizes):
        self.sealed = "sealed"
        super().decrypt(sizes)
        self.sealed = "clear"


def messages(clients: HybridClients, algorithm, rounds: int = 2) -> np.ndarray:
    """The messages of the last of so many rounds in their order, a row of words each."""
    diary = clients.ledger = Diary()

    def named(step, method):
        def call(*args, **more):
            diary.step = step
            return method(*args, **more)

        return call

    for step in STEPS:
        setattr(clients, step, named(step, getattr(clients, step)))
    for _, _ in zip(range(rounds), algorithm(clients, inner=1), strict=False):
        last, diary.pages = diary.pages, []
    return np.array([[str(word) for word in page] for page in last])


def owners(data: Rectangles) -> np.ndarray:
    """Which client owns each entry of the samples x features."""
    found = np.full((data.N, data.M), -1)
    for k, client in enumerate(data.clients):
        rows = np.concatenate([data.groups[g] for g in client.groups])
        found[np.ix_(rows, client.columns)] = k
    return found
