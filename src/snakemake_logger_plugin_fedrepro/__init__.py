"""What `--config` cannot mean, answered in a sentence.

Snakemake ends in a traceback when a target follows `--config`, before it reads any file of a workflow. Packages of this
name are all that it imports earlier, when it makes its parser. As a logger it does nothing, and nobody asks for it.
"""

import itertools
import re
import sys

from snakemake_interface_logger_plugins.base import LogHandlerBase

PAIR = re.compile(r"[a-zA-Z_][\w-]*\w=.*", re.DOTALL)


class LogHandler(LogHandlerBase):
    writes_to_stream = writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def emit(self, record) -> None:
        pass


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
