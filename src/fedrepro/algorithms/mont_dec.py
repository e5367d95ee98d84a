"""Mont-Dec: Erdogdu & Montanari 2015, distributed: SHED that renews at every iteration.

Dal Fabbro et al., section 6.7. The eigenvectors sent are always the first ones of the current Hessian.
"""

from fedrepro.algorithms import algorithm
from fedrepro.algorithms.shed import shed


@algorithm(needs={"gradient", "hessian"})
def mont_dec(agents, *, increment="channel", alpha=0.1, beta=0.5):
    yield from shed(agents, renewals="always", increment=increment, alpha=alpha, beta=beta)
