"""The bounds of Yuan, Zaheer & Reddi 2021 with the explicit constants of Appendices D, E and F.

`c` holds what they speak of: L, B = D_h(w*, w_0), sigma2, G, zeta2, M clients, K local steps. R may be an array.
"""

import numpy as np


def small_rate(c: dict, horizon: int) -> float:
    """η = η_s η_c of Theorem F.1 for R rounds."""
    noisy = np.sqrt(c["B"] * c["M"] / (c["K"] * horizon * c["sigma2"])) if c["sigma2"] else np.inf
    return min(1.0 / (4.0 * c["K"] * c["L"]), noisy)


def small_rate_bound(c: dict, eta: float, R):
    """Theorem F.1 (Theorem 4.1): of the mean of the server's points, for client rates small enough."""
    return c["B"] / (eta * c["K"] * R) + 3.0 * eta * c["sigma2"] / c["M"]


def largest_rate(c: dict) -> float:
    """η_c ≤ 1/(4L), of Theorems D.1 and E.1."""
    return 1.0 / (4.0 * c["L"])


def bounded_gradient_rate(c: dict, horizon: int) -> float:
    """η_c of Theorem D.1 for R rounds."""
    K, R = c["K"], horizon
    noisy = np.sqrt(c["M"] * c["B"] / (c["sigma2"] * K * R)) if c["sigma2"] else np.inf
    drift = (c["B"] / (c["L"] * R * c["G"] ** 2)) ** (1 / 3) / K
    return min(largest_rate(c), noisy, drift)


def bounded_gradient_bound(c: dict, rate: float, R):
    """(D.1), of Theorem 4.2: of the mean of all shadow points (4.2)."""
    return synchronised(c, rate, R) + c["L"] * bounded_gradient_stability(c, rate)


def bounded_gradient_stability(c: dict, rate: float) -> float:
    """Lemma D.3: how far the clients' dual states may be from their mean, squared."""
    return 4.0 * (rate * (c["K"] - 1) * c["G"]) ** 2


def quadratic_rate(c: dict, horizon: int) -> float:
    """η_c of Theorem E.1 for R rounds."""
    K, R, sigma2 = c["K"], horizon, c["sigma2"]
    noisy = np.sqrt(c["M"] * c["B"] / (sigma2 * K * R)) if sigma2 else np.inf
    drift = (c["B"] / (c["L"] * K**2 * R * sigma2)) ** (1 / 3) if sigma2 else np.inf
    apart = (c["B"] / (c["L"] * R * c["zeta2"])) ** (1 / 3) / K
    return min(largest_rate(c), noisy, drift, apart)


def quadratic_bound(c: dict, rate: float, R):
    """Theorem E.1 (Theorem 4.3): of the mean of all shadow points (4.2), F quadratic."""
    return synchronised(c, rate, R) + c["L"] * quadratic_stability(c, rate)


def quadratic_stability(c: dict, rate: float) -> float:
    """Lemma E.2 (Lemma 4.5)."""
    return rate**2 * (7.0 * c["K"] * c["sigma2"] + 14.0 * c["K"] ** 2 * c["zeta2"])


def shadow_bound(c: dict, rate: float, R, discrepancy):
    """Lemma D.2 (Lemma 4.4), with the mean squared discrepancy that was measured."""
    return synchronised(c, rate, R) + c["L"] * discrepancy


def synchronised(c: dict, rate: float, R):
    """The rate if clients spoke after every step."""
    return c["B"] / (rate * c["K"] * R) + rate * c["sigma2"] / c["M"]
