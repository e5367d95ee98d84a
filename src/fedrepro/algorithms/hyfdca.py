"""HyFDCA, hybrid federated dual coordinate ascent. Overman, Blum & Klabjan 2023, Algorithms 1-5."""

from typing import Literal

import numpy as np

from fedrepro.algorithms import algorithm
from fedrepro.maths.domains import Count
from fedrepro.maths.kernels.dual_ascent import ascend


@algorithm(needs={"rectangles"})
def hyfdca(
    clients,
    *,
    inner: Count,
    local: Literal["practical", "printed", "theory", "theory_printed", "refreshed"] = "practical",
    gamma: Literal["1", "1/t"] = "1",
    share: Literal["1", "N_k/N"] = "1",
    second_product: bool = False,
    pooled: bool = False,
):
    """Algorithm 1. `inner` is H, the samples a client visits in a round; `local` says which local dual method it
    runs on them (LOCAL below); `gamma` is γ_t, 1 or 1/t, and `share` is c_k, 1 or N_k/N.

    With everybody present the first PrimalAggregation falls away, and where one client alone holds a sample its
    SecureInnerProduct does (section 3.1). The second SecureInnerProduct is left out as in the paper's experiments;
    `second_product` puts it in. `pooled` adds the clients' parts of the weights under encryption (ours).
    """
    method = LOCAL[local]
    aggregation = clients.pooled_aggregation if pooled else clients.primal_aggregation
    squares = clients.squares() if local in ("practical", "refreshed") else [None] * clients.m
    t = 0
    while True:
        t += 1
        step = 1.0 / t if gamma == "1/t" else 1.0
        present, arrived = clients.available()
        if arrived:
            clients.send_duals(arrived)
            aggregation(arrived, recipients=present)
        clients.secure_inner_product(present)
        changes = {}
        for k in present:
            c = clients.data.clients[k].n / clients.data.N if share == "N_k/N" else 1.0
            change = method(clients, k, clients.choose(k, inner), squares[k], step, c)
            changes[k] = step * change / clients.holders[k]
        clients.collect_duals(changes)
        clients.send_duals(present)
        aggregation(present, recipients=present)
        if second_product:
            clients.secure_inner_product(present)
        yield clients.server.w.copy()


def practical(clients, k, chosen, squares, step, c):
    """Algorithm 5 in closed form: y(clip(λN(1 − y xᵀw)/‖x‖² + yα, 0, 1)) − α for the hinge loss."""
    y, a, z, q = (
        v[chosen] for v in (clients.data.clients[k].y, clients.alpha[k], clients.margins[k], squares)
    )
    full = np.full(len(q), np.inf)
    np.divide(clients.scale * (1.0 - y * z), q, out=full, where=q > 0)  # an empty row goes to its bound
    return placed(clients, k, chosen, y * np.clip(full + y * a, 0.0, 1.0) - a)


def printed(clients, k, chosen, squares, step, c):
    """The closed form as section 5 prints it, without y in the margin and without ‖x‖²."""
    y, a, z = (v[chosen] for v in (clients.data.clients[k].y, clients.alpha[k], clients.margins[k]))
    return placed(clients, k, chosen, y * np.clip(clients.scale * (1.0 - z) + y * a, 0.0, 1.0) - a)


def theory(clients, k, chosen, squares, step, c, sign=-1.0):
    """Algorithm 3, the method of the theorems: towards u by the best s in [0, 1], where −u ∈ ∂l(xᵀw), since
    (2) pairs w with +α. (As printed, u ∈ ∂l: `theory_printed`.)"""
    y, a, z = (v[chosen] for v in (clients.data.clients[k].y, clients.alpha[k], clients.margins[k]))
    towards = np.where(y * z < 1.0, -sign * y, 0.0) - a
    best = np.zeros(len(a))  # of s c γ: the maximiser of y q d − q z d − q² d² / (2λ), d = u − α
    np.divide(clients.data.lam * (y - z), towards, out=best, where=towards != 0)
    feasible = np.full(len(a), np.inf)  # 0 <= y(α + q d): outside of it l* is infinite
    np.divide(y * a, -y * towards, out=feasible, where=y * towards < 0)
    s = np.clip(best, 0.0, np.minimum(c * step, feasible)) / step
    return placed(clients, k, chosen, s * towards)


def theory_printed(clients, k, chosen, squares, step, c):
    return theory(clients, k, chosen, squares, step, c, sign=1.0)


def refreshed(clients, k, chosen, squares, step, c):
    """Our extension, after CoCoA+ (Smith et al. 2017): the margin follows the client's own changes within the
    round, and σ', the number of sample groups, makes the changes of different clients safe to add."""
    own = clients.data.clients[k]
    alpha = clients.alpha[k].copy()
    v = np.zeros(len(own.columns))
    sigma = float(len(clients.data.groups))
    ascend(own.X, own.y, alpha, clients.margins[k], squares, chosen, clients.scale, sigma, v)
    return alpha - clients.alpha[k]


def placed(clients, k, chosen, change):
    """Δα over all samples of client k, zero where none was chosen."""
    whole = np.zeros(clients.data.clients[k].n)
    whole[chosen] = change
    return whole


LOCAL = {f.__name__: f for f in (practical, printed, theory, theory_printed, refreshed)}
