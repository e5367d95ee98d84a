import json
from pathlib import Path

from fedrepro.datasets import table
from fedrepro.jobs import job

with job() as given:
    folders = [Path("data/decoded", name) for name in given.datasets.split(",")]
    metas = [
        json.loads((f / "meta.json").read_text()) | json.loads((f / "search.json").read_text())
        for f in folders
    ]
    table.write_csv(metas, Path(given.csv))
    Path(given.text).write_text(table.as_text(metas))
