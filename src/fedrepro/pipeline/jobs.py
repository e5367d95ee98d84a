"""What the workflow's scripts share: their `name=value` arguments, and a log that also reaches the terminal.

Rules call the scripts through `shell:`, which starts a job at once; `script:` would parse the whole workflow
again for every job.
"""

import contextlib
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace


def arguments() -> SimpleNamespace:
    """`block={…} output=results/…` as attributes."""
    return SimpleNamespace(**dict(word.split("=", 1) for word in sys.argv[1:]))


@contextlib.contextmanager
def job():
    """The job's arguments. Its warnings and errors are kept in the file `log`; progress is also shown."""
    given = arguments()
    path = Path(given.log)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        open(path, "w", buffering=1) as log,
        contextlib.redirect_stdout(log),
        contextlib.redirect_stderr(Both(sys.stderr, log)),
    ):
        try:
            yield given
        except Exception as error:
            traceback.print_exc(file=log)
            sys.exit(f"{type(error).__name__}: {error}\n(details in {path})")


class Both:
    """A stream that writes to several."""

    def __init__(self, *files):
        self.files = files

    def write(self, text):
        for file in self.files:
            file.write(text)
        return len(text)

    def flush(self):
        for file in self.files:
            file.flush()
