"""What the master knows of the agents' Hessians: eigenvalue-eigenvector pairs (EEPs), sent a few at a time.

Ĥ = Σ_i p_i Ĥ_i with Ĥ_i = Σ_{j ≤ q_i} (λ_j − ρ_i) v_j v_jᵀ + ρ_i I, eqs. (12)–(13), (26), (30) of Dal Fabbro et al.
Written as Σ_i p_i S_i + ρ̄ I − Σ_i p_i ρ_i P_i, with S_i = Σ λ_j v_j v_jᵀ and P_i = Σ v_j v_jᵀ, a round adds only the
new vectors to S and P_i, however many were sent before.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.linalg.blas import dsyrk

FEW = 12


class EigenPairs:
    """The EEPs of the agents' Hessians H_i, largest first, and the approximation they give the master."""

    def __init__(self, agents, hessians: np.ndarray):
        self.agents, self.hessians = agents, hessians
        m, n = hessians.shape[:2]
        self.sent = np.zeros(m, int)  # q_t
        self.S, self.P = np.zeros((n, n)), np.zeros((m, n, n))  # lower triangles only
        self.values, self.vectors = np.empty((m, 0)), np.empty((m, 0, n))  # eigenvectors in rows

    def prepare(self, most: int) -> None:
        """Have the `most` largest pairs of every agent (the work an agent does at a renewal).

        A few are found alone; the others then in the complement of those, so that no two can overlap.
        """
        m, n = self.hessians.shape[:2]
        have = self.values.shape[1]
        if most <= have:
            return
        k = FEW if most <= FEW < n else n  # for more than a few, LAPACK is as quick with all of them
        values, vectors = np.empty((m, k)), np.empty((m, k, n))
        values[:, :have], vectors[:, :have] = self.values, self.vectors
        for i, H in enumerate(self.hessians):
            if k < n:
                lam, V = eigh(H, subset_by_index=(n - k, n - 1), check_finite=False)
            elif have:
                known = vectors[i, :have]
                lam, V = np.linalg.eigh(H - (known.T * (values[i, :have] + values[i, 0])) @ known)
            else:
                lam, V = np.linalg.eigh(H)
            values[i, have:], vectors[i, have:] = lam[::-1][: k - have], V.T[::-1][: k - have]
        self.values, self.vectors = values, vectors

    def share(self, increments: np.ndarray) -> np.ndarray:
        """Every agent sends its next d_i pairs (n − 1 of them tell all); returns λ_{q_i+1} of every agent."""
        m, n = self.hessians.shape[:2]
        upto = np.minimum(self.sent + increments, n - 1)
        self.prepare(int(upto.max()) + 1)
        fresh, scale = [], []
        for i in np.flatnonzero(upto > self.sent):
            new = slice(self.sent[i], upto[i])
            V = self.vectors[i, new]
            dsyrk(1.0, V.T, beta=1.0, c=self.P[i].T, overwrite_c=1)
            fresh.append(V)
            scale.append(self.agents.weights[i] * self.values[i, new])
        if fresh:
            V = np.concatenate(fresh) * np.sqrt(np.maximum(np.concatenate(scale), 0.0))[:, None]
            dsyrk(1.0, V.T, beta=1.0, c=self.S.T, overwrite_c=1)
        self.agents.send_vectors(upto - self.sent, scalars=int((upto - self.sent).sum()) + m)  # λ_j and ρ
        self.sent = upto
        return self.values[np.arange(m), upto]

    def smallest(self) -> np.ndarray:
        """λ_n of every agent."""
        self.prepare(self.hessians.shape[1])
        return self.values[:, -1]

    def hessian(self, rho: np.ndarray) -> np.ndarray:
        """Ĥ, its lower triangle, for the agents' approximation parameters ρ_i."""
        weights = self.agents.weights * rho
        n = len(self.S)
        H = self.S - (weights @ self.P.reshape(len(weights), -1)).reshape(n, n)
        H[np.diag_indices(n)] += weights.sum()
        return H

    def direction(self, rho: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Ĥ⁻¹g by one Cholesky factorisation."""
        return cho_solve(cho_factor(self.hessian(rho), lower=True, check_finite=False), g, check_finite=False)
