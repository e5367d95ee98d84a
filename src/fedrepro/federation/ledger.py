"""The ledger: what crossed the wire and what the clients computed, counted by the federation."""

from dataclasses import asdict, dataclass


@dataclass
class Ledger:
    """Totals over all clients since the start of a cell. They never decrease.

    Four verbs fill it: `down` and `up` for messages, `work` for local computation, `encrypt` and `decrypt` for both
    where messages are sealed. Encrypted scalars are part of the floats. Clients work side by side: `slowest_…` sums,
    over the steps of a protocol, what the busiest client had to do.
    """

    floats_down: int = 0  # server -> clients
    floats_up: int = 0  # clients -> server
    messages: int = 0  # one per client and direction, whatever its length
    exchanges: int = 0  # times the server addressed the clients: communication rounds, inner ones included
    vectors: float = 0.0  # sent by a client on average, where a paper counts vectors of R^n
    turns: int = 0  # clients that took part, summed over rounds, where some are absent
    gradients: int = 0  # local full-gradient evaluations
    hessians: int = 0  # local Hessian evaluations
    products: int = 0  # local products of a Hessian with a vector
    proxes: int = 0  # local proximal steps
    samples: int = 0  # single-example gradients
    local_steps: int = 0  # stochastic steps or coordinates visited
    encryptions: int = 0  # of scalars, by clients, who send them
    decryptions: int = 0
    additions: int = 0  # of two encrypted scalars, on the server
    slowest_encryptions: int = 0
    slowest_decryptions: int = 0
    encryption_steps: int = 0  # steps of the protocol in which clients encrypt: one packed vector each
    decryption_steps: int = 0

    def down(self, floats: int, clients: int) -> None:
        """The server addresses so many clients, with so many floats in all."""
        self.floats_down += floats
        self.messages += clients
        self.exchanges += 1

    def up(self, floats: int, clients: int, vectors: float = 0.0) -> None:
        """So many clients answer, with so many floats in all; none of them where a message is under way already."""
        self.floats_up += floats
        self.messages += clients
        self.vectors += vectors

    def work(self, **counts: int) -> None:
        """Local computation, or clients' turns, by name."""
        for name, count in counts.items():
            setattr(self, name, getattr(self, name) + count)

    def encrypt(self, sizes: list[int]) -> None:
        """Each client encrypts and sends so many scalars."""
        self.up(sum(sizes), len(sizes))
        self.encryptions += sum(sizes)
        self.slowest_encryptions += max(sizes, default=0)
        self.encryption_steps += 1

    def decrypt(self, sizes: list[int]) -> None:
        """Each client receives and decrypts so many scalars."""
        self.down(sum(sizes), len(sizes))
        self.decryptions += sum(sizes)
        self.slowest_decryptions += max(sizes, default=0)
        self.decryption_steps += 1

    def row(self) -> dict[str, float]:
        return asdict(self)


COLUMNS = tuple(Ledger().row())
