"""What the master knows of the agents' Hessians: eigenvalue-eigenvector pairs (EEPs), sent a few at a time.

Ĥ = Σ_i p_i Ĥ_i with Ĥ_i = Σ_{j ≤ q_i} (λ_j − ρ_i) v_j v_jᵀ + ρ_i I, eqs. (12)–(13), (26), (30) of Dal Fabbro et al.
Written as Σ_i p_i S_i + ρ̄ I − Σ_i p_i ρ_i P_i, with S_i = Σ λ_j v_j v_jᵀ and P_i = Σ v_j v_jᵀ, a round adds only the
new vectors to S and P_i, however many were sent before. Vectors are added to P_i several at a time, for which memory
is passed over once; until then they stay a product of their own. All three are symmetric and kept as LAPACK's
rectangular full packed triangles: half the memory to read every round, and still updated, factorised and solved with by
LAPACK's own routines.
"""

import numpy as np
from scipy.linalg import LinAlgError, eigh_tridiagonal
from scipy.linalg.lapack import dormqr, dpftrf, dpftrs, dsfrk, dsytrd, dtrttf

from fedrepro.maths.lanczos import leading

FEW = 16
FOLD = 6
BLOCK = 64  # rows of LAPACK's workspace
ROUGHLY = (
    1e-3  # of a residual, for pairs used in one round only; the error of the eigenvalue is of second order
)


class EigenPairs:
    """The EEPs of the agents' Hessians H_i, largest first, and the approximation they give the master.

    `before` are the pairs that a renewal replaces. Where they were used `once`, for a single round, so will these be,
    and what was found of them is a start to find these from.
    """

    def __init__(self, agents, hessians, before: "EigenPairs | None" = None, once: bool = False):
        self.agents, self.hessians = agents, hessians
        m, n = agents.m, agents.n
        self.sent, self.folded = np.zeros(m, int), np.zeros(m, int)  # q_t, and how many of them are in P
        packed = n * (n + 1) // 2
        self.S, self.P = np.zeros(packed), np.zeros((m, packed))
        self.diagonal = np.flatnonzero(dtrttf(np.eye(n))[0])  # where it lies in a packed triangle
        self.values, self.vectors = np.empty((m, 0)), np.empty((m, 0, n))  # eigenvectors in rows
        self.start = before.vectors if before and once else None
        self.likely = FEW if once else 5 * int(before.sent.max()) // 3 + 2 if before else 4
        if before and before.hessians is hessians:
            self.values, self.vectors = before.values, before.vectors

    def prepare(self, most: int) -> None:
        """Have the `most` largest pairs of every agent (the work an agent does at a renewal), and as many as are
        likely to be asked for before the next one: between Fibonacci renewals, 5/3 of those of the last.

        Where they do not suffice the others are found in the complement of these, so that no two can overlap.
        """
        m, n = self.agents.m, self.agents.n
        have = self.values.shape[1]
        if most <= have:
            return
        k = min(max(most, self.likely), n) if have == 0 else n
        values, vectors = np.empty((m, k)), np.empty((m, k, n))
        values[:, :have], vectors[:, :have] = self.values, self.vectors
        follow = have == 0 and self.start is not None and self.start.shape[1] == k
        for i, H in enumerate(self.hessians):
            known = vectors[i, :have]
            rest = H - (known.T * (values[i, :have] + values[i, 0])) @ known if have else H
            found = leading(H, self.start[i].T, most, ROUGHLY) if follow else None
            lam, V = found or largest(np.asarray(rest), k - have)
            values[i, have:], vectors[i, have:] = lam[::-1], V.T[::-1]
        self.values, self.vectors = values, vectors

    def share(self, increments: np.ndarray) -> np.ndarray:
        """Every agent sends its next d_i pairs (n − 1 of them tell all); returns λ_{q_i+1} of every agent."""
        m, n = self.agents.m, self.agents.n
        upto = np.minimum(self.sent + increments, n - 1)
        self.prepare(int(upto.max()) + 1)
        senders = np.flatnonzero(upto > self.sent)
        if len(senders):
            new = [slice(self.sent[i], upto[i]) for i in senders]
            V = np.concatenate([self.vectors[i, s] for i, s in zip(senders, new, strict=True)])
            lam = [self.agents.weights[i] * self.values[i, s] for i, s in zip(senders, new, strict=True)]
            V *= np.sqrt(np.maximum(np.concatenate(lam), 0.0))[:, None]
            add_outer(self.S, V, 1.0)
        self.agents.send_vectors(upto - self.sent, scalars=int((upto - self.sent).sum()) + m)  # λ_j and ρ
        self.sent = upto
        if np.max(self.sent - self.folded) >= FOLD:
            for i in np.flatnonzero(self.sent > self.folded):
                add_outer(self.P[i], self.vectors[i, self.folded[i] : self.sent[i]], 1.0)
            self.folded = self.sent
        return self.values[np.arange(m), upto]

    def smallest(self) -> np.ndarray:
        """λ_n of every agent."""
        self.prepare(self.agents.n)
        return self.values[:, -1]

    def hessian(self, rho: np.ndarray) -> np.ndarray:
        """Ĥ, packed, for the agents' approximation parameters ρ_i."""
        weights = self.agents.weights * rho
        H = self.S - weights @ self.P
        H[self.diagonal] += weights.sum()
        recent = [
            np.sqrt(weights[i]) * self.vectors[i, self.folded[i] : self.sent[i]]
            for i in np.flatnonzero(self.sent > self.folded)
        ]
        if recent:
            add_outer(H, np.concatenate(recent), -1.0)
        return H

    def direction(self, rho: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Ĥ⁻¹g by one Cholesky factorisation."""
        factor, info = dpftrf(len(g), self.hessian(rho), overwrite_a=1)
        if info:
            raise LinAlgError(f"the approximated Hessian is not positive definite (minor {info})")
        return dpftrs(len(g), factor, g)[0]


def add_outer(packed: np.ndarray, V: np.ndarray, sign: float) -> None:
    """packed ← packed ± Σ_j v_j v_jᵀ over the rows v_j of V, in place."""
    dsfrk(V.shape[1], len(V), sign, V.T, 1.0, packed, overwrite_c=1)


def largest(H: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues, increasing, and their eigenvectors in columns."""
    try:
        if 3 * k <= 2 * len(H):
            return part(H, k)
    except LinAlgError:  # MRRR may give up on clusters of eigenvalues; divide and conquer does not
        pass
    values, vectors = np.linalg.eigh(H)
    return values[-k:], vectors[:, -k:]


def part(H: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The same by LAPACK in three steps, of which the last, back from the tridiagonal form, is made for k vectors."""
    n = len(H)
    reflectors, diagonal, beside, tau, _ = dsytrd(H.T, lower=1, lwork=BLOCK * n)
    few = {"select": "i", "select_range": (n - k, n - 1)} if k <= 2 * FEW else {}  # else all take no longer
    values, vectors = eigh_tridiagonal(diagonal, beside, lapack_driver="stemr", check_finite=False, **few)
    values, vectors = values[-k:], np.asfortranarray(vectors[:, -k:])
    vectors[1:] = dormqr("L", "N", reflectors[1:, :-1], tau, vectors[1:], lwork=BLOCK * n)[0]
    return values, vectors
