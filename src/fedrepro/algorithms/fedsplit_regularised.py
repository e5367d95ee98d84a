"""FedSplit on a regularised objective, for costs that are convex only. Pathak & Wainwright 2020, Theorem 2."""

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Positive


@algorithm(needs={"prox"})
def fedsplit_regularised(clients, *, epsilon: Positive):
    """Algorithm 1 on f_j(x) + (λ/2)‖x − x⁽¹⁾‖² with λ = ε/(m‖x⁽¹⁾ − x*‖²) and s = 1/√(λ(L* + λ)).

    Eq. (19) prints λ/(2m); the proof (A.2.4) uses λ/2, and so do we. The added term is folded into the prox:
    prox_{s(f + λ/2‖·−c‖²)}(v) = prox_{s'f}((v + sλc)/(1 + sλ)) with s' = s/(1 + sλ).
    """
    reg = epsilon / (clients.m * clients.constants["D2"])
    s = 1.0 / (reg * (clients.constants["L*"] + reg)) ** 0.5
    shrink = 1.0 + s * reg
    x = centre = clients.start
    z = clients.stack(x)
    half = z
    while True:
        clients.receive(x)
        half = clients.prox((2 * x - z + s * reg * centre) / shrink, s / shrink, start=half)
        z = z + 2 * (half - x)  # local centering step
        x = clients.average(z)
        yield x
