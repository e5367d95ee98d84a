"""The ledger: what crossed the wire and what the clients computed, counted by the federation."""

from dataclasses import asdict, dataclass


@dataclass
class Ledger:
    """Totals over all clients since the start of a cell. They never decrease."""

    floats_down: int = 0  # server -> clients
    floats_up: int = 0  # clients -> server
    messages: int = 0  # one per client and direction, whatever its length
    exchanges: int = 0  # times the server addressed the clients: communication rounds, inner ones included
    gradients: int = 0  # local full-gradient evaluations
    hessians: int = 0  # local Hessian evaluations
    proxes: int = 0  # local proximal steps

    def down(self, clients: int, floats_each: int) -> None:
        self.floats_down += clients * floats_each
        self.messages += clients
        self.exchanges += 1

    def up(self, clients: int, floats_each: int) -> None:
        self.floats_up += clients * floats_each
        self.messages += clients

    def row(self) -> dict[str, int]:
        return asdict(self)


COLUMNS = tuple(Ledger().row())
