"""The hybrid federation of Overman, Blum & Klabjan 2023: rectangles, a server that sees ciphertexts, a ledger.

Clients may be absent. The server then goes on with the last thing an absent client sent, its part of the
weights and of the inner products; a client that comes back first gets the duals of its samples again.
"""

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from fedrepro.federation import ciphers
from fedrepro.federation.protocol import Federation, oracle
from fedrepro.federation.rectangles import Rectangle, Rectangles
from fedrepro.maths.kernels import scatter
from fedrepro.maths.seeds import stream


class Server:
    """What the server keeps: enc(α₀) by group of samples, the last ŵ and enc(inner products) of every client.

    It can add ciphertexts and cannot open them; each message it sends on is re-randomised.
    """

    def __init__(self, add, refresh, duals: list, scale: float, data: Rectangles):
        self.add, self.refresh = add, refresh  # of ciphertexts
        self.duals = duals  # a ciphertext per group of samples
        self.holders = data.holders
        self._groups = [client.groups for client in data.clients]
        self._columns = [client.columns for client in data.clients]
        self.products: list[dict] = [{} for _ in data.clients]  # client -> group -> ciphertext
        self.parts = [np.zeros(len(c.columns)) for c in data.clients]  # ŵ_{0,k}: the last each client sent
        self.w = np.zeros(data.M)
        self._scale = scale  # lambda N

    def add_to_duals(self, k: int, boxes: list) -> None:
        for g, box in zip(self._groups[k], boxes, strict=True):
            self.duals[g] = self.add(self.duals[g], box)

    def duals_of(self, k: int) -> list:
        return [self.refresh(self.duals[g]) for g in self._groups[k]]

    def keep_part(self, k: int, part: np.ndarray) -> None:
        """Replace what client k contributes to the weights."""
        scale = np.broadcast_to(self._scale, len(part))
        scatter.replace(self.w, self._columns[k], self.parts[k], part, scale)
        self.parts[k] = part

    def keep_products(self, k: int, groups: list[int], boxes: list) -> None:
        self.products[k].update(zip(groups, boxes, strict=True))

    def inner_product(self, g: int):
        """enc(x_i . w) for the samples of group g, from whoever holds a piece of them."""
        boxes = [self.products[k][g] for k in self.holders[g] if g in self.products[k]]
        total = boxes[0]
        for box in boxes[1:]:
            total = self.add(total, box)
        return total, len(boxes) - 1

    def sent_on(self, box):
        """A ciphertext as one client receives it."""
        return self.refresh(box)


class Pool:
    """The last enc(ŵ_k) of every client, as long for all clients whose features overlap: zero where one has none.

    So a sum is of whole ciphertexts, and who has which of the features is not told by what is sent.
    """

    def __init__(self, data: Rectangles, add):
        self.add = add
        owned = [client.columns for client in data.clients]
        ends = np.concatenate([[0], np.cumsum([len(own) for own in owned])])
        held = scipy.sparse.csr_array((np.ones(ends[-1]), np.concatenate(owned), ends), (len(owned), data.M))
        count, self.band = connected_components(held @ held.T, directed=False)
        of_feature = np.full(data.M, -1)
        for band, own in zip(self.band, owned, strict=True):
            of_feature[own] = band
        self.features = [np.flatnonzero(of_feature == band) for band in range(count)]
        self.places = [
            np.searchsorted(self.features[band], own) for band, own in zip(self.band, owned, strict=True)
        ]
        self.boxes: dict[int, object] = {}  # by client

    def size(self, k: int) -> int:
        return len(self.features[self.band[k]])

    def padded(self, k: int, part: np.ndarray) -> np.ndarray:
        whole = np.zeros(self.size(k))
        whole[self.places[k]] = part
        return whole

    def sums(self) -> tuple[dict, int]:
        """The sum over every band of which somebody has sent, and how many scalars were added."""
        totals, additions = {}, 0
        for k, box in self.boxes.items():
            band = self.band[k]
            additions += self.size(k) if band in totals else 0
            totals[band] = self.add(totals[band], box) if band in totals else box
        return totals, additions


class Attendance:
    """Who is available in a round: a random subset of fixed size, or `cycle` fixed groups in turn."""

    def __init__(self, clients: int, fraction: float = 1.0, cycle: int = 0, seed: int = 0):
        self.clients, self.cycle = clients, cycle
        self.size = max(1, round(fraction * clients))
        self.rng = stream(seed, "attendance")
        self.round = 0

    def next(self) -> list[int]:
        self.round += 1
        if self.cycle:
            turn = (self.round - 1) % self.cycle
            return list(np.array_split(np.arange(self.clients), self.cycle)[turn])
        if self.size == self.clients:
            return list(range(self.clients))
        return sorted(self.rng.choice(self.clients, self.size, replace=False).tolist())


class HybridClients(Federation):
    """The federation as an algorithm sees it. Everything that crosses the wire passes through here."""

    def __init__(
        self, data: Rectangles, *, fraction=1.0, cycle=0, seed=0, constants=None, cipher="none", bits=2048
    ):
        super().__init__(len(data), np.zeros(data.M), constants)
        self.data = data
        self.attendance = Attendance(self.m, fraction, cycle, seed)
        self.cipher = ciphers.make(cipher, bits)
        self.scale = data.lam * data.N
        self.rng = [stream(seed, "local", client.name) for client in data.clients]
        self.spent = dict.fromkeys(
            ciphers.WORKS, 0.0
        )  # CPU seconds in the cipher, of all clients and the server
        self.encrypt, self.decrypt, add, refresh = ciphers.clocked(self.cipher, self.spent)
        zeros = [self.encrypt(np.zeros(len(g))) for g in data.groups]
        self.server = Server(add, refresh, zeros, self.scale, data)
        self.alpha = [np.zeros(c.n) for c in data.clients]  # each client's copy of the duals of its samples
        self.w = [np.zeros(len(c.columns)) for c in data.clients]  # … and of the weights of its features
        self.parts = [np.zeros(len(c.columns)) for c in data.clients]  # ŵ_k, and the duals it was made of
        self.summed = [np.zeros(c.n) for c in data.clients]
        self.margins = [np.zeros(c.n) for c in data.clients]  # x_i . w_0, as last told
        self.holders = [self.spread(c, [float(len(data.holders[g])) for g in c.groups]) for c in data.clients]
        self.shared = [[g for g in c.groups if len(data.holders[g]) > 1] for c in data.clients]
        self.last: list[int] | None = None
        self.pool: Pool | None = None  # where parts of the weights are added under encryption

    def spread(self, client: Rectangle, values: list[float]) -> np.ndarray:
        return np.repeat(values, [len(self.data.groups[g]) for g in client.groups])

    def sizes(self, who: list[int]) -> list[int]:
        return [self.data.clients[k].n for k in who]

    # --- who takes part ---

    @oracle("rectangles")
    def available(self) -> tuple[list[int], list[int]]:
        """K^t, and those of them that were absent in the round before (nobody is new in the first round)."""
        present = self.attendance.next()
        arrived = [] if self.last is None else sorted(set(present) - set(self.last))
        self.last = present
        self.ledger.work(turns=len(present))
        return present, arrived

    # --- HyFDCA's exchanges ---

    def collect_duals(self, changes: dict[int, np.ndarray]) -> None:
        """Clients send enc(γ Δα_k / |B_n|); the server adds them to enc(α₀)."""
        for k, change in changes.items():
            boxes = [self.encrypt(v) for v in self.data.split(self.data.clients[k], change)]
            self.server.add_to_duals(k, boxes)
        sizes = self.sizes(list(changes))
        self.ledger.encrypt(sizes)
        self.ledger.work(additions=sum(sizes))

    def send_duals(self, who: list[int]) -> None:
        """The server sends enc(α₀), each client the samples it holds; they decrypt."""
        for k in who:
            self.alpha[k] = joined([self.decrypt(box) for box in self.server.duals_of(k)])
        self.ledger.decrypt(self.sizes(who))

    def primal_aggregation(self, who: list[int], recipients: list[int]) -> None:
        """Algorithm 4. `who` send ŵ_k; the server renews w₀ and sends each recipient the weights of its
        features. (Printed: sent to the clients that arrived; every available client needs them.)"""
        for k in who:
            self.server.keep_part(k, self.part(k))
        self.ledger.up(sum(len(self.w[k]) for k in who), len(who))
        self.send_weights(recipients)

    def part(self, k: int) -> np.ndarray:
        """ŵ_k = Σ α_i x_i over client k's samples."""
        self.parts[k] = self.data.clients[k].weights(self.alpha[k], self.summed[k], self.parts[k])
        self.summed[k] = self.alpha[k]
        return self.parts[k]

    def pooled_aggregation(self, who: list[int], recipients: list[int]) -> None:
        """Our repair of Algorithm 4. Clients send enc(ŵ_k), the server adds what it last got from all of them, and one
        client opens the sums: the server sees w₀ and no client's part of it."""
        if self.pool is None:
            self.pool = Pool(self.data, self.server.add)
        for k in who:
            self.pool.boxes[k] = self.encrypt(self.pool.padded(k, self.part(k)))
        sums, additions = self.pool.sums()
        for band, total in sums.items():
            self.server.w[self.pool.features[band]] = self.decrypt(total) / self.scale
        self.ledger.encrypt([self.pool.size(k) for k in who])
        self.ledger.work(additions=additions)
        self.ledger.decrypt([self.data.M])  # the one who opens them
        self.ledger.up(self.data.M, 1)
        self.send_weights(recipients)

    def send_weights(self, recipients: list[int]) -> None:
        for k in recipients:
            self.w[k] = self.server.w.take(self.data.clients[k].columns)
        self.ledger.down(sum(len(self.w[k]) for k in recipients), len(recipients))

    def secure_inner_product(self, who: list[int]) -> None:
        """Algorithm 2. A sample that one client holds alone needs no exchange: its product is local."""
        told: list[int] = []
        local = {k: self.data.clients[k].X @ self.w[k] for k in who}
        for k in who:
            client, shared = self.data.clients[k], self.shared[k]
            if shared:
                parts = dict(zip(client.groups, self.data.split(client, local[k]), strict=True))
                self.server.keep_products(k, shared, [self.encrypt(parts[g]) for g in shared])
                told.append(sum(len(parts[g]) for g in shared))
        totals = {g: self.server.inner_product(g) for g in sorted({g for k in who for g in self.shared[k]})}
        for k in who:
            client = self.data.clients[k]
            if not self.shared[k]:
                self.margins[k] = local[k]
                continue
            own = self.data.split(client, local[k])
            self.margins[k] = joined([
                self.decrypt(self.server.sent_on(totals[g][0])) if g in totals else part
                for g, part in zip(client.groups, own, strict=True)
            ])  # fmt: skip
        if told:
            self.ledger.encrypt(told)
            self.ledger.work(additions=sum(n * len(self.data.groups[g]) for g, (_, n) in totals.items()))
            self.ledger.decrypt(told)

    def squares(self) -> list[np.ndarray]:
        """‖x_i‖² on every client: the pieces are added once, under encryption, like inner products."""
        sums: dict[int, np.ndarray] = {}
        local = [self.data.split(c, c.squares()) for c in self.data.clients]
        for client, parts in zip(self.data.clients, local, strict=True):
            for g, part in zip(client.groups, parts, strict=True):
                box = self.encrypt(part)
                sums[g] = box if g not in sums else self.server.add(sums[g], box)
        told = [sum(len(self.data.groups[g]) for g in shared) for shared in self.shared]
        if any(told):
            self.ledger.encrypt(told)
            pieces = zip(self.data.groups, self.data.holders, strict=True)
            self.ledger.work(additions=sum((len(who) - 1) * len(group) for group, who in pieces))
            self.ledger.decrypt(told)
        opened = {g: self.decrypt(box) for g, box in sums.items()}
        return [joined([opened[g] for g in client.groups]) for client in self.data.clients]

    # --- exchanges of methods that average weights ---

    def collect_weights(self, local: dict[int, np.ndarray]) -> None:
        """Clients send the weights of their features."""
        self.ledger.up(sum(map(len, local.values())), len(local))

    # --- local work ---

    def choose(self, k: int, size: int) -> np.ndarray:
        """D: `size` of client k's samples, without replacement."""
        n = self.data.clients[k].n
        size = min(int(size), n)
        self.ledger.work(local_steps=size)
        return (
            self.rng[k].permutation(n)
            if size == n
            else self.rng[k].choice(n, size, replace=False, shuffle=False)
        )

    def draw(self, k: int, size: int) -> np.ndarray:
        """`size` of client k's samples with replacement, for stochastic gradients."""
        self.ledger.work(local_steps=int(size))
        return self.rng[k].integers(self.data.clients[k].n, size=int(size))

    # --- what an observer outside the federation may see ---

    def duals(self) -> np.ndarray:
        """α₀ in the order of the groups, opened with the clients' key: for measuring only."""
        return np.concatenate([self.cipher.decrypt(box) for box in self.server.duals])


def joined(parts: list[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
