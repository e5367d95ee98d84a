"""Find and decode one dataset; on failure, the whole reason goes to the log and to the screen."""

import sys
from pathlib import Path

from fedrepro.datasets import DataError, catalogue
from fedrepro.datasets.decode import prepare

name, params = snakemake.wildcards.dataset, snakemake.params  # noqa: F821
log = Path(snakemake.log[0])  # noqa: F821
try:
    meta = prepare(name, catalogue.declared(), "data", params.policy, frozenset(params.may_download))
except DataError as error:
    log.write_text(f"{error}\n")
    print(error, file=sys.stderr)
    sys.exit(1)
log.write_text(
    "".join(f"{line}\n" for line in [*meta["tried"], f"{name}: {meta['origin']}, {meta['title']}"])
)
