import json
from pathlib import Path

from fedrepro.datasets import table
from fedrepro.jobs import job

with job() as given:
    metas = [json.loads(Path(f"data/decoded/{n}/meta.json").read_text()) for n in given.datasets.split(",")]
    table.write_csv(metas, Path(given.csv))
    Path(given.text).write_text(table.as_text(metas))
