"""The table of all decoded datasets, as CSV and as text."""

import json
from pathlib import Path

from fedrepro.datasets import table

job = snakemake  # noqa: F821
metas = [json.loads(Path(path).read_text()) for path in job.input]
table.write_csv(metas, Path(job.output.csv))
Path(job.output.text).write_text(table.as_text(metas))
Path(job.log[0]).write_text(f"{len(metas)} datasets\n")
