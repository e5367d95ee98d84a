"""Mont-Dec: Erdogdu & Montanari 2015, distributed: SHED that renews at every iteration.

Dal Fabbro et al., section 6.7. The eigenvectors sent are always the first ones of the current Hessian.
"""

from typing import Literal

from fedrepro.algorithms import algorithm
from fedrepro.algorithms.shed import shed
from fedrepro.maths.domains import Count, Fraction


@algorithm(needs={"gradient", "hessian", "pooled", "vectors"})
def mont_dec(
    agents, *, increment: Count | Literal["channel"] = "channel", alpha: Fraction = 0.1, beta: Fraction = 0.5
):
    yield from shed(agents, renewals="always", increment=increment, alpha=alpha, beta=beta)
