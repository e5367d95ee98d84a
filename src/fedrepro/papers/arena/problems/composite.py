"""Composite: a loss over all clients and ψ, a norm or a ball. Everybody takes part and gradients are full."""

from typing import Literal

import numpy as np

from fedrepro.experiments.problem import problem
from fedrepro.experiments.reference import Reference
from fedrepro.federation.cohorts import SampledClients, Sampling
from fedrepro.maths.domains import Count
from fedrepro.maths.losses import sigmoid
from fedrepro.maths.models.linear import LinearModel
from fedrepro.maths.proxes import L1, L1Ball, L2Ball, Nuclear, OnBlocks
from fedrepro.maths.seeds import stream
from fedrepro.papers.arena.contest import Contest, Horizon
from fedrepro.papers.arena.tasks import dealt, task

STRENGTH = 0.1  # of a norm: this share of what makes zero optimal
RADIUS = 0.5  # of a ball: this share of the norm's own solution
PRECISE = 1e-13  # a proximal step that moves less than this, relative to the point, has arrived
MOST_STEPS = 200_000


class Composite(Contest):
    """The distance ‖w − w*‖ to the certified optimum: below the optimal value lie points outside a ball."""

    federation = SampledClients

    def __init__(self, model, offsets, side: int | None, setting: dict, seed: int, **about):
        start = np.zeros(model.size)
        m = len(offsets) - 1
        super().__init__(setting, seed, 2.0 * m * start.size, costs=model, start=start, **about)
        self.offsets, self.side = offsets, side
        self.sampling = Sampling(offsets, m, int(offsets[1]), setting["steps"], seed)

    def clients(self, reference):
        psi = self.psi(reference.constants["strength"])
        return SampledClients(self.costs, psi, self.sampling, self.start, reference.constants)

    def psi(self, strength: float, kind: str | None = None):
        kind = kind or self.setting["penalty"]
        if kind == "norm":
            inner = L1(strength) if self.side is None else Nuclear(strength, (self.side, self.side))
        else:
            inner = {"l1_ball": L1Ball, "l2_ball": L2Ball}[kind](strength)
        return OnBlocks(inner, (slice(0, self.costs.size - 1),))

    def error(self, reference):
        return lambda x: float(np.linalg.norm(x - reference.optimum))

    def equivalents(self, ledger):
        return ledger.samples / self.offsets[-1]

    def gradient(self, w):
        return self.costs.gradient(w, slice(None))

    def reference(self):
        """ψ's strength as a share of what is known of the problem, the optimum by proximal steps, and constants there."""
        high = max(self.curvatures(j, None)[-1] for j in range(self.sampling.count))
        most = self.curvatures(None, None)[-1]
        first = self.gradient(self.start)[:-1]
        dual = np.abs(first).max() if self.side is None else np.linalg.norm(first.reshape(self.side, -1), 2)
        strength = STRENGTH * float(dual)
        if self.setting["penalty"] != "norm":
            w = settled(self.gradient, self.psi(strength, "norm"), 1.0 / most, self.start)[:-1]
            strength = RADIUS * float(
                np.abs(w).sum() if self.setting["penalty"] == "l1_ball" else np.linalg.norm(w)
            )
        best = settled(self.gradient, self.psi(strength), 1.0 / most, self.start)
        low = min(self.curvatures(j, best)[0] for j in range(self.sampling.count))
        known = {"L*": high, "l*": max(low, 0.0), "L_F": most, "l_F": self.curvatures(None, best)[0]}
        facts = {
            "start": float(np.linalg.norm(self.start - best)),
            "dimension": len(best),
            "kappa": most / max(known["l_F"], 1e-300),
        }
        return Reference(best, known | {"strength": strength}, facts)

    def curvatures(self, client: int | None, at: np.ndarray | None) -> np.ndarray:
        """Eigenvalues of the loss's Hessian, at a point or at its highest; of a client or of all."""
        low, high = (0, -1) if client is None else (client, client + 1)
        rows = slice(self.offsets[low], self.offsets[high])
        A = np.column_stack([self.costs.X[rows], np.ones(rows.stop - rows.start)])
        bend = np.full(len(A), 2.0 * self.costs.scale if self.costs.loss == "squared" else 0.25)
        if at is not None and self.costs.loss == "logistic":
            p = sigmoid(A @ at)
            bend = p * (1 - p)
        return np.linalg.eigvalsh((A.T * bend) @ A / len(A))


def settled(gradient, psi, step: float, start: np.ndarray) -> np.ndarray:
    """argmin F + ψ by proximal gradient steps with a momentum that is dropped whenever it points uphill, until a step
    moves the point by no more than rounding."""
    w, speed = start, 0 * start
    age = 0
    for _ in range(MOST_STEPS):
        ahead = w + age / (age + 3.0) * speed
        new = psi.prox(ahead - step * gradient(ahead), step)
        uphill = (ahead - new) @ (new - w) > 0
        if np.abs(new - ahead).max() <= PRECISE * max(1.0, np.abs(new).max()):
            return new
        speed, age = (0 * start, 0) if uphill else (new - w, age + 1)
        w = new
    raise ArithmeticError(f"the composite optimum was not reached in {MOST_STEPS} proximal steps")


class Penalised(Horizon):
    data: Literal["sparse", "low-rank", "w8a", "fmnist"]
    penalty: Literal["norm", "l1_ball", "l2_ball"]
    steps: Count
    clients: Count
    rows: Count
    columns: Count


@problem()
def composite(setting: Penalised, seed, data=None) -> Composite:
    """LASSO and low rank (squares with a known pattern, clients around means of their own), and logistic regression on
    w8a and Fashion-MNIST dealt by label; ψ is the pattern's norm, or a ball."""
    m, n, d = (setting[k] for k in ("clients", "rows", "columns"))
    offsets, side, about = np.arange(m + 1) * n, None, {}
    if setting["data"] in ("w8a", "fmnist"):
        found = task(setting["data"], seed, m * n, d)
        X, y = (np.concatenate(part) for part in dealt(found, m, True, seed))
        model, about = LinearModel("logistic", np.ascontiguousarray(X[:, :-1]), (y + 1) / 2), found.about
    else:
        rng = stream(seed, "arena", "composite")
        truth = (np.arange(d) < max(1, d // 8)).astype(float)
        if setting["data"] == "low-rank":
            side = int(d**0.5)
            truth = np.diag((np.arange(side) < max(1, side // 4)).astype(float)).ravel()
        X = 0.3 * np.repeat(rng.standard_normal((m, len(truth))), n, axis=0)
        X += rng.standard_normal((m * n, len(truth)))
        model = LinearModel("squared", X, X @ truth + 0.5 * rng.standard_normal(m * n), 0.5)
    return Composite(model, offsets, side, setting, seed, **about)
