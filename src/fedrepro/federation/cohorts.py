"""Sampled federations: a few clients a round, each walking through its own examples in batches.

What the clients hold is a `model` (maths/models): stacked examples, a loss and its gradient over rows. The sampling is
drawn from a stream of its own, so that every algorithm and every point of a learning-rate grid meets the same clients
and batches.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fedrepro.federation.protocol import Federation, oracle
from fedrepro.maths.kernels.linear import DESCENT, LAZY, SUBGRADIENT
from fedrepro.maths.mirrors import MIRRORS
from fedrepro.maths.seeds import stream


@dataclass(frozen=True)
class Visit:
    """Who takes part in a round and which rows each looks at, in order."""

    clients: np.ndarray
    rows: np.ndarray  # (clients, longest), padded
    lengths: np.ndarray


class Sampling:
    """`count` clients a round, uniformly without replacement; `epochs` shuffled passes over their rows.

    Passes follow one another before they are cut into batches, so that only the last batch of a round is
    smaller (the authors' public code).
    """

    def __init__(self, offsets: np.ndarray, count: int, batch: int, epochs: int, seed: int):
        self.offsets, self.count = offsets, min(count, len(offsets) - 1)
        self.batch, self.epochs, self.seed = batch, epochs, seed
        self.drawn: list[Visit] = []

    def visit(self, round: int) -> Visit:
        while len(self.drawn) <= round:
            self.drawn.append(self.draw(len(self.drawn)))
        return self.drawn[round]

    def draw(self, round: int) -> Visit:
        rng = stream(self.seed, "cohort", str(round))
        m = len(self.offsets) - 1
        clients = np.sort(rng.choice(m, self.count, replace=False))
        sizes = np.diff(self.offsets)[clients]
        rows = np.zeros((self.count, self.epochs * sizes.max()), np.int32)
        for i, (client, n) in enumerate(zip(clients, sizes, strict=True)):
            for epoch in range(self.epochs):
                rows[i, epoch * n : (epoch + 1) * n] = self.offsets[client] + rng.permutation(n)
        return Visit(clients, rows, self.epochs * sizes)


class SampledClients(Federation):
    """The server's view of the federation: draw a cohort, send, let it work, average what comes back."""

    def __init__(self, model, psi, sampling: Sampling, start: np.ndarray, constants: dict | None = None):
        super().__init__(len(sampling.offsets) - 1, start, constants)
        self.model, self.psi, self.sampling = model, psi, sampling
        self.round = 0

    def mirror(self, name: str):
        """h by name, together with the problem's ψ."""
        return MIRRORS[name](self.psi)

    @oracle("cohort")
    def sample(self) -> "Cohort":
        """S_r, line 3 of Algorithms 1-5."""
        cohort = Cohort(self, self.sampling.visit(self.round))
        self.round += 1
        return cohort

    @oracle("gathered")
    def full_gradient(self, w: np.ndarray, client: int | None = None) -> np.ndarray:
        """∇F over all gathered examples, or over one client's: for the methods that do not federate."""
        low, high = (0, self.m) if client is None else (client, client + 1)
        rows = slice(self.sampling.offsets[low], self.sampling.offsets[high])
        self.ledger.work(gradients=1, samples=int(rows.stop - rows.start))
        return self.model.gradient(w, rows)


class Cohort:
    """The clients of one round."""

    def __init__(self, federation: SampledClients, visit: Visit):
        self.federation, self.visit = federation, visit
        self.clients = visit.clients  # who they are, for methods whose clients remember something
        batch = federation.sampling.batch
        sizes = np.diff(federation.sampling.offsets)[visit.clients]
        self.weights = sizes / sizes.sum()  # by examples, as the public code weighs
        self.steps = -(-visit.lengths // batch)
        self.K = float(self.weights @ self.steps)  # local steps; clients of equal size have exactly K

    def receive(self, point: np.ndarray) -> np.ndarray:
        """The server sends a point to every client of the cohort."""
        self.federation.ledger.down(len(self.weights) * point.size, len(self.weights))
        return point

    def stack(self, state: np.ndarray) -> np.ndarray:
        """A copy for every client of the cohort, one row each. Local: nothing is sent."""
        return np.repeat(state[None], len(self.weights), axis=0)

    def mirror_descent(self, w: np.ndarray, rate: float, mirror) -> np.ndarray:
        """K steps w ← ∇(h + ηψ)*(∇h(w) − ηg), Algorithm 2 line 8; one row per client."""
        return self._walk(DESCENT, w, rate, 0.0, mirror)

    def dual_averaging(self, z: np.ndarray, rate: float, shrink: float, mirror) -> np.ndarray:
        """K steps z ← z − η∇f(∇(h + (shrink + ηk)ψ)*(z)), Algorithm 3 lines 7-11; one row per client."""
        return self._walk(LAZY, z, rate, shrink, mirror)

    def subgradient_descent(self, w: np.ndarray, rate: float, mirror) -> np.ndarray:
        """K steps w ← w − η(g + ψ'(w))."""
        return self._walk(SUBGRADIENT, w, rate, 0.0, mirror)

    def local_steps(self, states: np.ndarray, step: Callable, mirror) -> np.ndarray:
        """K local steps of the algorithm's own, state ← step(state, gradient, primal, k), from each client's row.

        `gradient(w)` is the mean over the batch of step k, `primal(z, t)` the mirror's ∇(h + tψ)*; both count what
        they are asked. A state may have several rows, such as a point and its momentum.
        """
        f, out = self.federation, []
        counted = int(mirror != mirror.smooth)

        def primal(z, t):
            f.ledger.work(proxes=counted)
            return mirror.primal(z, t)

        for state, visited, length in zip(states, self.visit.rows, self.visit.lengths, strict=True):
            for k, low in enumerate(range(0, length, f.sampling.batch)):
                rows = visited[low : min(low + f.sampling.batch, length)]

                def gradient(w, rows=rows):
                    f.ledger.work(samples=len(rows))
                    return f.model.gradient(w, rows)

                state = step(state, gradient, primal, k)
            out.append(state)
        f.ledger.work(local_steps=int(self.steps.sum()))
        return np.stack(out)

    def average(self, rows: np.ndarray) -> np.ndarray:
        """Every client sends its row; the server takes the mean weighted by examples."""
        self.federation.ledger.up(rows.size, len(rows))
        return (self.weights @ rows.reshape(len(rows), -1)).reshape(rows.shape[1:])

    def _walk(self, mode, start, rate, shrink, mirror):
        f, visit = self.federation, self.visit
        f.ledger.work(samples=int(visit.lengths.sum()), local_steps=int(self.steps.sum()))
        if mode != SUBGRADIENT and mirror != mirror.smooth:
            f.ledger.work(proxes=int(self.steps.sum()))
        return f.model.walk(mode, mirror, visit, f.sampling.batch, start, rate, shrink)
