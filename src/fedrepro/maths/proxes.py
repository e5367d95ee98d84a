"""Proximal maps and projections: the composite term ψ by itself, with no federation in it.

prox_{tψ}(v) = argmin_w tψ(w) + ½‖w − v‖². The functions take one array; the classes below them are what an
algorithm sees: ψ with `value`, `prox`, `weighted` (the penalty share·ψ) and (where it is finite) `subgradient`.
"""

from dataclasses import dataclass, replace

import numpy as np


def soft_threshold(v: np.ndarray, t: float) -> np.ndarray:
    """prox of t‖·‖₁."""
    return np.sign(v) * np.maximum(np.abs(v) - t, 0.0)


def threshold_singular_values(V: np.ndarray, t: float) -> np.ndarray:
    """prox of t‖·‖_nuc, for one matrix or a stack of them. Cai, Candès & Shen 2010."""
    U, s, Wt = np.linalg.svd(V, full_matrices=False)
    return (U * np.maximum(s - t, 0.0)[..., None, :]) @ Wt


def simplex_threshold(v: np.ndarray, total: float = 1.0) -> float:
    """θ with Σ max(v − θ, 0) = total, exactly, by sorting: what projects onto the simplex of that total."""
    ordered = np.sort(v)[::-1]
    excess = np.cumsum(ordered) - total
    count = np.arange(1, v.size + 1)
    k = np.count_nonzero(ordered * count > excess)
    return excess[k - 1] / k


def project_l1_ball(v: np.ndarray, radius: float) -> np.ndarray:
    """The nearest point with ‖w‖₁ ≤ radius, exactly: outside the ball, a soft threshold found by sorting.

    Entries below the threshold that all of them together would have cannot stay, and need not be sorted.
    """
    size = np.abs(v).ravel()
    total = size.sum()
    if total <= radius:
        return v.copy()
    large = size[size >= (total - radius) / size.size]
    return soft_threshold(v, simplex_threshold(large, radius))


def project_l2_ball(v: np.ndarray, radius: float) -> np.ndarray:
    norm = np.sqrt(np.sum(v * v))
    return v * (radius / norm) if norm > radius else v.copy()


@dataclass(frozen=True)
class Zero:
    """ψ = 0."""

    name, strength = "zero", 0.0

    def value(self, w):
        return 0.0

    def prox(self, v, t):
        return v

    def subgradient(self, w):
        return np.zeros_like(w)

    def weighted(self, share):
        return self


class Penalty:
    """ψ with a strength: share·ψ has that share of it."""

    def weighted(self, share):
        return replace(self, strength=share * self.strength)


@dataclass(frozen=True)
class L1(Penalty):
    """ψ(w) = strength·‖w‖₁."""

    strength: float
    name = "l1"

    def value(self, w):
        return self.strength * float(np.abs(w).sum())

    def prox(self, v, t):
        return soft_threshold(v, t * self.strength)

    def subgradient(self, w):
        return self.strength * np.sign(w)


@dataclass(frozen=True)
class Nuclear(Penalty):
    """ψ(w) = strength·‖W‖_nuc, W the vector w read as a matrix of `shape`."""

    strength: float
    shape: tuple[int, int]
    name = "nuclear"

    def value(self, w):
        return self.strength * float(np.linalg.svd(w.reshape(self.shape), compute_uv=False).sum())

    def prox(self, v, t):
        return threshold_singular_values(v.reshape(self.shape), t * self.strength).reshape(v.shape)

    def subgradient(self, w):
        U, s, Vt = np.linalg.svd(w.reshape(self.shape), full_matrices=False)
        return self.strength * ((U * (s > 0)) @ Vt).reshape(w.shape)


@dataclass(frozen=True)
class Ball:
    """ψ = 0 in the ball of a norm and +∞ outside; the prox is the projection, whatever t > 0."""

    strength: float  # the radius

    def value(self, w):
        return 0.0 if self.norm(w) <= self.strength * (1 + 1e-9) else np.inf

    def weighted(self, share):
        return self


class L1Ball(Ball):
    name = "l1_ball"

    def norm(self, w):
        return np.abs(w).sum()

    def prox(self, v, t):
        return project_l1_ball(v, self.strength)


class L2Ball(Ball):
    name = "l2_ball"

    def norm(self, w):
        return np.sqrt(np.sum(w * w))

    def prox(self, v, t):
        return project_l2_ball(v, self.strength)


@dataclass(frozen=True)
class OnBlocks:
    """The same ψ on each of some slices of a parameter vector; the rest (biases) is left alone.

    With one slice this keeps an intercept out of a penalty; with three it is the ball of every kernel of a
    network by itself.
    """

    psi: object
    blocks: tuple[slice, ...]

    def value(self, w):
        return sum(self.psi.value(w[block]) for block in self.blocks)

    def prox(self, v, t):
        out = v.copy()
        for block in self.blocks:
            out[block] = self.psi.prox(v[block], t)
        return out

    def subgradient(self, w):
        out = np.zeros_like(w)
        for block in self.blocks:
            out[block] = self.psi.subgradient(w[block])
        return out

    def weighted(self, share):
        return replace(self, psi=self.psi.weighted(share))
