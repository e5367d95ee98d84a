"""Mirror maps: the distance-generating function h together with ψ, as ∇h and ∇(h + tψ)*.

Yuan, Zaheer & Reddi 2021, section 2.1. All of their experiments take h = ½‖·‖²; the entropy is here because
nothing in the algorithms asks for the Euclidean one.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fedrepro.maths.proxes import Zero


@dataclass(frozen=True)
class Euclidean:
    """h(w) = ½‖w‖²: ∇h is the identity and ∇(h + tψ)* the prox of tψ."""

    psi: object

    def dual(self, w):
        return w

    def primal(self, z, t):
        return self.psi.prox(z, t)

    @property
    def smooth(self):
        """The same h without ψ: what clients use when only the server takes proximal steps."""
        return replace(self, psi=Zero())

    def weighted(self, share: float):
        """The same h with share·ψ."""
        return replace(self, psi=self.psi.weighted(share))


@dataclass(frozen=True)
class Entropy:
    """h(w) = Σ w log w with ψ the indicator of the probability simplex: ∇(h + tψ)* is the softmax."""

    psi: object = None
    constrained: bool = True

    def dual(self, w):
        return 1.0 + np.log(w)

    def primal(self, z, t):
        if not self.constrained:
            return np.exp(z - 1.0)
        e = np.exp(z - z.max())
        return e / e.sum()

    @property
    def smooth(self):
        return replace(self, constrained=False)

    def weighted(self, share: float):
        """A share of an indicator is the indicator."""
        return self


MIRRORS = {"euclidean": Euclidean, "entropy": Entropy}
Mirror = Literal["euclidean", "entropy"]
