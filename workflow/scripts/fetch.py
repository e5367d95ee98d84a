"""Find and decode one dataset; on failure, the whole reason goes to the log and to the screen."""

import sys
from pathlib import Path

from fedrepro import datasets
from fedrepro.datasets import DataError
from fedrepro.datasets.decode import prepare

name, params = snakemake.wildcards.dataset, snakemake.params  # noqa: F821
log = Path(snakemake.log[0])  # noqa: F821
catalogue = datasets.declared()
try:
    meta = prepare(name, "data", params.policy, frozenset(params.may_download), catalogue)
except DataError as error:
    log.write_text(f"{error}\n")
    print(error, file=sys.stderr)
    sys.exit(1)
log.write_text(
    "".join(f"{line}\n" for line in [*meta["tried"], f"{name}: {meta['origin']}, {meta['title']}"])
)
