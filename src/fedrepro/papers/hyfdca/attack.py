"""What an honest but curious server learns from the weights that HyFDCA sends in the clear (D9).

A client's part of the weights changes by Σ Δα_i x_i over the few samples touched in a round. With one of them the change
is parallel to a row of its data; with several its support still names the features (the words) they have.
"""

import numpy as np
import scipy.sparse

PARALLEL = 1 - 1e-9  # the cosine from which a change is a row
SAME = 1e-6  # how exactly a change of a dual variable is known


class Observer:
    """Looks at the server's weights once a round and compares what changed with the clients' data.

    `recovered` are the pieces of rows that some change was parallel to, `opened` those of them whose change of the dual
    variable is the length of the change (rows are known to be of unit length). Both are shares of all pieces.
    """

    def __init__(self, clients, whole):
        self.whole = scipy.sparse.csr_array(whole)  # all rows with all features, in the order of the groups
        self.parts = [part.copy() for part in clients.server.parts]
        self.w = clients.server.w.copy()
        self.alpha = [alpha.copy() for alpha in clients.alpha]
        self.duals = clients.duals()
        self.recovered: set = set()
        self.opened: set = set()
        self.closest, self.words, self.named = [0.0], [0.0], [0.0]
        self.exchanges, self.pieces = 0, 1
        self.known: dict = {}  # of the rows of a client: themselves, their supports, their lengths

    def look(self, clients) -> "Observer":
        if clients.ledger.exchanges == self.exchanges:
            return self
        self.exchanges = clients.ledger.exchanges
        self.closest, self.words, self.named = [], [], []
        if clients.pool is None:  # as printed: every client's part is seen by itself
            for k in clients.last:
                part, alpha = clients.server.parts[k], clients.alpha[k]
                self.compare(k, part - self.parts[k], clients.data.clients[k].X, alpha - self.alpha[k])
                self.parts[k], self.alpha[k] = part.copy(), alpha.copy()
            self.pieces = sum(client.n for client in clients.data.clients)
        else:  # only the sums over clients are
            w, duals = clients.server.w, clients.duals()
            self.compare("all", (w - self.w) * clients.scale, self.whole, duals - self.duals)
            self.w, self.duals = w.copy(), duals
            self.pieces = clients.data.N
        return self

    def compare(self, who, change: np.ndarray, X, duals: np.ndarray) -> None:
        length = np.linalg.norm(change)
        if length <= 1e-12:
            return
        if who not in self.known:
            X = scipy.sparse.csr_array(X)
            self.known[who] = (
                X,
                (X != 0).astype(float),
                np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel(),
            )
        X, pattern, lengths = self.known[who]
        cosine = np.abs(X @ change) / np.maximum(lengths * length, 1e-300)
        best = int(np.argmax(cosine))
        self.closest.append(float(cosine[best]))
        if cosine[best] > PARALLEL:
            self.recovered.add((who, best))
            if abs(length - abs(duals[best])) < SAME:
                self.opened.add((who, best))
        named = (np.abs(change) > 1e-12 * np.abs(change).max()).astype(float)
        both = pattern @ named
        either = np.diff(pattern.indptr) + named.sum() - both
        self.named.append(float(named.sum()))
        self.words.append(float((both / np.maximum(either, 1.0)).max()))

    def found(self, name: str) -> float:
        if name in ("rows_recovered", "duals_opened"):
            return len(self.recovered if name == "rows_recovered" else self.opened) / getattr(
                self, "pieces", 1
            )
        found = {"closest_row": self.closest, "closest_words": self.words, "words_named": self.named}[name]
        return float(np.mean(found)) if found else 0.0


SEEN = ("rows_recovered", "duals_opened", "closest_row", "closest_words", "words_named")
