"""The table of tests/README.md: what was tried, how often, what survived, and what a person sees."""

from dataclasses import dataclass, field
from pathlib import Path

BEGIN, END = "<!-- faults -->\n", "<!-- end of faults -->\n"


@dataclass
class Tally:
    tried: dict[str, list[bool]] = field(default_factory=dict)
    sees: dict[str, str] = field(default_factory=dict)

    def add(self, fault: str, survived: bool, sees: str) -> None:
        self.tried.setdefault(fault, []).append(survived)
        self.sees[fault] = sees

    def rows(self) -> list[str]:
        return [
            f"| {fault} | {len(tries)} | {sum(tries)} | {self.sees[fault]} |"
            for fault, tries in self.tried.items()
        ]

    def write(self, path: Path, keep: bool) -> None:
        """Between its two marks; what was not tried this time is kept where asked to."""
        before, rest = path.read_text().split(BEGIN)
        table, after = rest.split(END)
        known = {row.split(" | ")[0]: row for row in table.splitlines()[2:]} if keep else {}
        known |= {row.split(" | ")[0]: row for row in self.rows()}
        head = "| fault | tries | survived | what one sees |\n| --- | --- | --- | --- |\n"
        path.write_text(before + BEGIN + head + "".join(f"{row}\n" for row in known.values()) + END + after)
