"""Clients beyond memory: the same federation, whose data are read again whenever the clients compute something."""

from collections.abc import Sequence

import numpy as np

from fedrepro.federation.clients import Clients
from fedrepro.maths import optimum
from fedrepro.maths.losses import LOSSES
from fedrepro.maths.stacks import EmptyClient, pad_rows
from fedrepro.maths.streamed import StreamedModels, StreamedQuadratics, StreamedStack, clients_together


class StreamedClients(Clients):
    """Clients of whom as many are in memory at a time as a budget allows; the points are those of `Clients`, bit by bit."""

    @classmethod
    def from_arrays(
        cls,
        X: Sequence,
        y: Sequence,
        *,
        loss: str = "least_squares",
        ridge: float = 0.0,
        memory_gb: float = 2.0,
        reference: bool = True,
    ) -> "StreamedClients":
        """As `Clients.from_arrays`, for dense X[j] that are made or read when asked for, again and again:

            class Drawn:
                def __len__(self):
                    return 100_000

                def __getitem__(self, j):
                    return np.random.default_rng(j).standard_normal((50, 100))

        or `fedrepro.datasets.readers.clients.ClientRows("X.npy")`. The y[j] are read once and kept.

        The process stays within `memory_gb` as long as the algorithm holds a dozen vectors for every client, and no
        matrices. Optimum and constants take some ten passes over the data and an eigendecomposition for every client;
        without `reference` there are none, steps are numbers, and `run` records no gap.
        """
        if loss not in LOSSES:
            raise ValueError(f"loss '{loss}' is none of: {', '.join(LOSSES)}")
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} clients and y has {len(y)}")
        targets = [np.asarray(y[j], float) for j in range(len(y))]
        sizes = np.array([len(b) for b in targets])
        if not sizes.all():
            raise EmptyClient(f"client {np.argmin(sizes)} of {len(sizes)} has no rows; leave it out")
        if loss == "logistic" and not all(np.isin(b, (-1, 1)).all() for b in targets):
            raise ValueError("the logistic loss takes labels -1 and 1")
        m, n, d = len(sizes), int(sizes.max()), np.shape(X[0])[1]
        data = StreamedStack(X, sizes, d, clients_together(m, n, d, memory_gb))
        if loss == "least_squares":
            costs = StreamedQuadratics(data, data.pad(targets), 1.0 / sizes, ridge)
        else:
            weights = pad_rows([np.full(k, 1.0 / k) for k in sizes], n, 0.0)
            costs = StreamedModels(loss, data, data.pad(targets, fill=1.0), weights, ridge)
        if not reference:
            return cls(costs)
        best = optimum.minimiser(costs)
        found = cls(costs, constants=optimum.constants(costs, best))
        found.optimum = best
        return found
