"""Keys: what every output must have been made of, in small files that are inputs of the rules.

A key is a hash of the configuration, the code and the locked versions a job depends on. It is written when the workflow
is read, and only if it changed, so that its date is newer than whatever was made under another key: Snakemake then makes
that again, with or without its own records. Readers compare the key with the one a trace or reference carries itself.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from fedrepro.datasets.files import Damaged
from fedrepro.experiments.results import KEYS


def key_of(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


class Keys:
    """The keys of one scale, `results/<scale>/keys`."""

    def __init__(self, results: str | Path):
        self.folder = Path(results) / KEYS

    def path(self, name: str) -> Path:
        """`traces/fedsplit_fig1/fedgd` -> its file."""
        return self.folder / f"{name}.key"

    def expect(
        self, name: str, key: str, output: Path | None = None, carried: Callable[[], str] | None = None
    ) -> str:
        """Make the key's file say `key`. Where an output is there that carries this very key, the file is made older than
        it: nothing has to be done again."""
        path = self.path(name)
        try:
            if path.exists() and path.read_bytes() == key.encode():
                return str(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(key)
            if output is not None and carried is not None and output.exists() and carried() == key:
                before = output.stat().st_mtime - 1.0
                os.utime(path, (before, before))
        except (OSError, Damaged):
            pass  # a folder that can only be read, where nothing will be run, or an output to be made again
        return str(path)

    def met(self, name: str, output: Path) -> bool:
        """Whether an output is there, and its key, where there is one, was there before."""
        path = self.path(name)
        return output.exists() and (not path.exists() or path.stat().st_mtime <= output.stat().st_mtime)

    def forget(self, kind: str, known: set[str], belongs: Callable[[str], bool]) -> None:
        """Remove the keys of what is no longer declared, among the names that `belongs` says are ours to judge."""
        top = self.folder / kind
        for path in sorted(top.rglob("*.key")):
            name = path.relative_to(top).with_suffix("").as_posix()
            if belongs(name) and name not in known:
                path.unlink(missing_ok=True)
                if not any(path.parent.iterdir()):  # an experiment that is gone
                    path.parent.rmdir()
