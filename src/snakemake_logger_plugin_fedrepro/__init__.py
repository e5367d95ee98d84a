"""`snakemake --logger fedrepro`: how far a run is, in one line. And what `--config` cannot mean, answered in a sentence.

Snakemake ends in a traceback when a target follows `--config`, before it reads any file of a workflow. Packages of this
name are all that it imports earlier, when it makes its parser. Whoever does not ask for this logger gets Snakemake's own.
"""

import contextlib
import itertools
import logging
import os
import re
import sys
import threading
import time

from snakemake_interface_logger_plugins.base import LogHandlerBase

PAIR = re.compile(r"[a-zA-Z_][\w-]*\w=.*", re.DOTALL)
SELDOM = 30.0  # seconds between two lines where there is no terminal
ERASE = "\r\x1b[K"
KEPT = ("Nothing to be done", "Complete log")  # of what Snakemake says besides warnings and errors


class LogHandler(LogHandlerBase):
    """One line that rewrites itself on a terminal, and a line now and then elsewhere. Warnings, errors, the logs of failed
    jobs and dry runs are shown as Snakemake does; everything is in .snakemake/log."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        from snakemake.logging import ColorizingTextHandler

        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.plain = ColorizingTextHandler(self.common_settings.nocolor, self.stream)
        self.terminal = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.shown = False  # whether a line stands there that will be rewritten
        self.last = 0.0
        self.ended = threading.Event()
        self.ticking: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        dry = self.common_settings.dryrun
        if dry or record.levelno >= logging.WARNING or str(record.msg).startswith(KEPT):
            self.write("")
            self.plain.setFormatter(self.formatter)
            self.plain.emit(record)
        elif self.ticking is None:
            self.ticking = threading.Thread(target=self.tick, daemon=True)
            self.ticking.start()
        else:
            self.draw()

    def draw(self, over: bool = False) -> None:
        from fedrepro.pipeline.progress import RUN

        now = time.time()
        with self.lock:
            if self.terminal:
                self.write(RUN.line(now, self.width(), over) if RUN.jobs else "planning the jobs")
            elif RUN.jobs and (over or now - self.last >= SELDOM):
                self.write(RUN.line(now, over=over) + "\n")
                self.last = now
            if over and self.shown:
                self.write("") if not RUN.jobs else self.stream.write("\n")

    def write(self, words: str) -> None:
        """These words instead of the line that stands there."""
        with contextlib.suppress(OSError, ValueError):
            rewritten = self.terminal and bool(words)
            # A blank after the line: what jobs say themselves comes there, and stays.
            self.stream.write((ERASE if self.shown else "") + words + " " * rewritten)
            self.shown = rewritten
            self.stream.flush()

    def width(self) -> int:
        try:
            return (os.get_terminal_size(self.stream.fileno()).columns or 80) - 2
        except (OSError, ValueError):
            return 78

    def tick(self) -> None:
        """The time left goes down while a long job runs."""
        while not self.ended.wait(1.0):
            self.draw()

    def close(self) -> None:
        if not self.ended.is_set():
            self.ended.set()
            if self.ticking is not None:
                self.draw(over=True)
        super().close()


def mistake(words: list[str]) -> str:
    """The sentence about the first word after `--config` that is not key=value; '' where there is none."""
    for i, word in enumerate(words):
        if word in ("--config", "-C"):
            given = list(itertools.takewhile(lambda w: not w.startswith("-"), words[i + 1 :]))
            for odd in (w for w in given if not PAIR.fullmatch(w)):
                if "=" in odd:
                    return f"--config: '{odd}' has no valid key, of two letters or more; config/README.md lists them"
                pairs = " ".join(w for w in given if PAIR.fullmatch(w))
                right = f"snakemake --cores 2 {odd} --config {pairs or 'key=value'}"
                return f"--config: '{odd}' is not key=value; targets come before --config, as in: {right}"
    return ""


if "snakemake" in sys.argv[0] and (sentence := mistake(sys.argv[1:])):
    sys.exit(sentence)
