"""What a federation of one client must come to: the centralised methods, written down without any federation.

A twin takes the one-client federation only to read its numbers: G and c of ½xᵀGx − cᵀx, or examples X and y.
"""

import numpy as np

from fedrepro.maths.seeds import stream
from small_federations import ANY, RIDGE, VALUES, D

STEP = ANY  # η of the composite methods


def bowl(clients):
    return clients.costs.G[0], clients.costs.c[0], clients.start, clients.constants


def gradient_descent(clients):
    G, c, x, known = bowl(clients)
    while True:
        x = x - (G @ x - c) / known["L*"]
        yield x


def ten_steps(clients):
    """Of gradient descent a round."""
    every = gradient_descent(clients)
    while True:
        for _ in range(10):
            x = next(every)
        yield x


def steps_by_coins(clients):
    """Gradient descent that is looked at with probability √(ℓ/L)."""
    known, coins = clients.constants, stream(0, "coins")
    for x in gradient_descent(clients):
        if coins.random() < (known["l*"] / known["L*"]) ** 0.5:
            yield x


def damped_and_remembered(clients):
    """(H + 0.2I)y⁺ = g + 0.1y: FedNew with one client, whose multiplier stays zero."""
    G, c, x, _ = bowl(clients)
    y = np.zeros(D)
    while True:
        y = np.linalg.solve(G + 0.2 * np.eye(D), G @ x - c + 0.1 * y)
        x = x - y
        yield x


def resolvent(G, c, s, v):
    """prox_{sf}(v)."""
    return np.linalg.solve(np.eye(D) + s * G, v + s * c)


def proximal_point(clients):
    G, c, x, known = bowl(clients)
    while True:
        x = resolvent(G, c, (known["l*"] * known["L*"]) ** -0.5, x)
        yield x


def reflected_proximal_point(clients):
    """Peaceman–Rachford with one operator: x ← 2 prox(x) − x."""
    G, c, x, known = bowl(clients)
    while True:
        x = 2 * resolvent(G, c, (known["l*"] * known["L*"]) ** -0.5, x) - x
        yield x


def reflected_and_regularised(clients):
    """The same for f + (λ/2)‖· − x⁽¹⁾‖² with λ = ε/‖x⁽¹⁾ − x*‖² and s = 1/√(λ(L + λ))."""
    G, c, x, known = bowl(clients)
    reg = VALUES["epsilon"] / known["D2"]
    G, c = G + reg * np.eye(D), c + reg * x
    while True:
        x = 2 * resolvent(G, c, (reg * (known["L*"] + reg)) ** -0.5, x) - x
        yield x


def minimiser(clients):
    G, c, *_ = bowl(clients)
    while True:
        yield np.linalg.solve(G, c)


def heavy_ball(clients):
    G, c, x, known = bowl(clients)
    s, last = 1 / known["L_F"], x
    beta = (1 - np.sqrt(known["l_F"] / known["L_F"])) ** 2
    while True:
        x, last = x - s * (G @ x - c) + beta * (x - last), x
        yield x


def nesterov(clients):
    G, c, x, known = bowl(clients)
    kappa = (known["L_F"] / known["l_F"]) ** 0.5
    last = x
    while True:
        y = x + (kappa - 1) / (kappa + 1) * (x - last)
        x, last = y - (G @ y - c) / known["L_F"], x
        yield x


def newton(clients):
    """On a quadratic: there after one step, which every line search takes."""
    yield from minimiser(clients)


def damped_newton(clients):
    """x ← x − v/(1 + √(vᵀHv)), v = H⁻¹∇f: Nesterov's, which DiSCO approximates."""
    G, c, x, _ = bowl(clients)
    while True:
        v = x - np.linalg.solve(G, c)
        x = x - v / (1 + np.sqrt(v @ G @ v))
        yield x


def multipliers(clients):
    """Newton-type primal and dual steps on ½xᵀGx − cᵀx + λ(x_0 − x) + ½‖x_0 − x‖²: eq. (3.7), one client."""
    G, c, x0, _ = bowl(clients)
    H = G + np.eye(D)
    x, dual = x0, np.zeros(D)
    while True:
        slope = G @ x - c - dual + x - x0
        x, dual = x - np.linalg.solve(H, slope), dual + H @ (x0 - x)
        x0 = x - dual
        yield x0


def composite(clients):
    """∇f of the mean of (xᵀw + b − y)² over one client's examples, prox of tψ, and the start."""
    A = np.column_stack([clients.model.X, np.ones(len(clients.model.y))])

    def gradient(w):
        return 2 * A.T @ (A @ w - clients.model.y) / len(A)

    def prox(w, t):
        return np.append(np.sign(w[:-1]) * np.maximum(np.abs(w[:-1]) - 0.3 * t, 0), w[-1])

    return gradient, prox, clients.start


def plain_descent(clients):
    """Knows nothing of ψ."""
    gradient, _, w = composite(clients)
    while True:
        w = w - STEP * gradient(w)
        yield w


def subgradient_descent(clients):
    gradient, _, w = composite(clients)
    while True:
        w = w - STEP * (gradient(w) + np.append(0.3 * np.sign(w[:-1]), 0.0))
        yield w


def proximal_gradient(clients):
    """ISTA, eq. (2.1)."""
    gradient, prox, w = composite(clients)
    while True:
        w = prox(w - STEP * gradient(w), STEP)
        yield w


def proximal_gradient_twice_shrunk(clients):
    """FedMiD's client and server both take the proximal step (lines 8 and 10)."""
    gradient, prox, w = composite(clients)
    while True:
        w = prox(prox(w - STEP * gradient(w), STEP), STEP)
        yield w


def dual_averaging(clients):
    """Eq. (2.4): ψ weighs as much as all steps so far."""
    gradient, prox, z = composite(clients)
    t = 0
    while True:
        z = z - STEP * gradient(prox(z, t * STEP))
        t += 1
        yield prox(z, t * STEP)


def descent_seen_through_prox(clients):
    """FedDualAvg-OSP's client never shrinks: gradient descent, of which the server shows a prox."""
    gradient, prox, z = composite(clients)
    t = 0
    while True:
        z = z - STEP * gradient(z)
        t += 1
        yield prox(z, t * STEP)


def douglas_rachford(clients):
    """With one gradient step, of length STEP/2, for the prox of STEP·f."""
    gradient, prox, w = composite(clients)
    x = y = w
    while True:
        y = y + w - x
        x = x - STEP / 2 * (gradient(x) + (x - y) / STEP)
        w = prox(2 * x - y, STEP)
        yield w


def bounded_dual_averaging(clients):
    """Minimise the bounds a_t(g_tᵀw + μ/2‖w − w_t‖² + ψ) so far + ‖w − w⁰‖²/2η, by their sums."""
    gradient, prox, first = composite(clients)
    mu, t, A = VALUES["mu"], 0, 0.0
    w, sums = first, first / STEP
    while True:
        a = 1 + mu * STEP * t
        sums, A, t = sums - a * gradient(w) + a * mu * w, A + a, t + 1
        c = 1 / STEP + mu * A
        w = prox(sums / c, A / c)
        yield w


def samples(clients):
    own = clients.data.clients[0]
    X = np.zeros((own.n, clients.data.M))
    X[:, own.columns] = own.X
    return X, own.y, stream(0, "local", own.name)


def dual_coordinate_ascent(clients):
    """SDCA with one coordinate a round (Shalev-Shwartz & Zhang 2013), w = Xᵀα/(λN)."""
    X, y, rng = samples(clients)
    scale, alpha = RIDGE * len(y), np.zeros(len(y))
    while True:
        i = int(rng.choice(len(y), 1, replace=False, shuffle=False)[0])
        margin = X[i] @ (X.T @ alpha) / scale
        alpha[i] = y[i] * np.clip(scale * (1 - y[i] * margin) / (X[i] @ X[i]) + y[i] * alpha[i], 0, 1)
        yield X.T @ alpha / scale


def stochastic_descent(clients):
    """Subgradient steps on λ/2‖w‖² + hinge, rate a/(b + √t)."""
    X, y, rng = samples(clients)
    w, t = np.zeros(X.shape[1]), 0
    while True:
        t += 1
        rate = VALUES["a"] / (VALUES["b"] + np.sqrt(t))
        for i in rng.integers(len(y), size=VALUES["local_steps"]):
            w = w - rate * (RIDGE * w - y[i] * X[i] * (y[i] * (X[i] @ w) < 1))
        yield w.copy()


# How the one client must be asked for the method to be exact.
PARAMS = {
    "disco": {"mu": 0.0},  # preconditioned by its own Hessian, conjugate gradients end in a step
    "shed": {"increment": D},  # all eigenvectors at once
    "shed_ls": {"increment": D},
    "mont_dec": {"increment": D},
    "hyfdca": {"inner": 1},
    "cocoa": {"inner": 1},
    "hyfem": {"mu": 0.0},  # without the pull to the server's weights
}

TWINS = {
    "fedgd": gradient_descent,
    "fedprox": proximal_point,
    "fedsplit": reflected_proximal_point,
    "fedsplit_regularised": reflected_and_regularised,
    "fedgd_limit": minimiser,
    "fedprox_limit": minimiser,
    "fedhybrid": multipliers,
    "disco": damped_newton,
    "agd": heavy_ball,
    "nesterov": nesterov,
    "giant": newton,
    "fednl": newton,
    "shed": newton,
    "shed_ls": newton,
    "mont_dec": newton,
    "fedavg": plain_descent,
    "fedavg_subgradient": subgradient_descent,
    "fedmid": proximal_gradient_twice_shrunk,
    "fedmid_osp": proximal_gradient,
    "feddualavg": dual_averaging,
    "feddualavg_osp": descent_seen_through_prox,
    "centralised": proximal_gradient,
    "local": proximal_gradient,
    "local_average": proximal_gradient,
    "scaffold": ten_steps,
    "proxskip": steps_by_coins,
    "fednew": damped_and_remembered,
    "local_newton": newton,
    "dane": proximal_point,  # the global gradient is its own
    "fednl_topk": newton,
    "feddr": douglas_rachford,
    "fast_feddualavg": bounded_dual_averaging,
    "decoupled": proximal_gradient,
    "cocoa": dual_coordinate_ascent,
    "hyfdca": dual_coordinate_ascent,
    "fedavg_hybrid": stochastic_descent,
    "hyfem": stochastic_descent,
}
