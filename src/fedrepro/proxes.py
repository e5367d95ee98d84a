"""Proximal maps and projections: the composite term ψ by itself, with no federation in it.

prox_{tψ}(v) = argmin_w tψ(w) + ½‖w − v‖². The functions take one array; the classes below them are what an
algorithm sees: ψ with `value`, `prox` and (where it is finite) `subgradient`.
"""

from dataclasses import dataclass

import numpy as np


def soft_threshold(v: np.ndarray, t: float) -> np.ndarray:
    """prox of t‖·‖₁."""
    return np.sign(v) * np.maximum(np.abs(v) - t, 0.0)


def decay(v: np.ndarray, t: float) -> np.ndarray:
    """prox of t‖·‖₂²: weight decay."""
    return v / (1.0 + 2.0 * t)


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


def project_box(v: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.clip(v, low, high)


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


@dataclass(frozen=True)
class L1:
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
class SquaredL2:
    """ψ(w) = strength·‖w‖₂²."""

    strength: float
    name = "l2"

    def value(self, w):
        return self.strength * float(np.sum(w * w))

    def prox(self, v, t):
        return decay(v, t * self.strength)

    def subgradient(self, w):
        return 2.0 * self.strength * w


@dataclass(frozen=True)
class Nuclear:
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


class Constraint:
    """ψ = 0 inside a set and +∞ outside; the prox is the projection, whatever t > 0."""

    def value(self, w):
        return 0.0 if self.contains(w) else np.inf

    def prox(self, v, t):
        return self.project(v)


@dataclass(frozen=True)
class L1Ball(Constraint):
    strength: float  # the radius
    name = "l1_ball"

    def project(self, v):
        return project_l1_ball(v, self.strength)

    def contains(self, w, slack=1e-9):
        return bool(np.abs(w).sum() <= self.strength * (1 + slack))


@dataclass(frozen=True)
class L2Ball(Constraint):
    strength: float  # the radius
    name = "l2_ball"

    def project(self, v):
        return project_l2_ball(v, self.strength)

    def contains(self, w, slack=1e-9):
        return bool(np.sqrt(np.sum(w * w)) <= self.strength * (1 + slack))


@dataclass(frozen=True)
class Box(Constraint):
    low: float
    high: float
    name, strength = "box", 0.0

    def project(self, v):
        return project_box(v, self.low, self.high)

    def contains(self, w, slack=1e-9):
        return bool(w.min() >= self.low - slack and w.max() <= self.high + slack)


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
