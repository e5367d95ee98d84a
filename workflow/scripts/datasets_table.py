import json
from pathlib import Path

from fedrepro.pipeline.jobs import job
from fedrepro.reporting import datasets as table

with job() as given:
    folders = [Path("data/decoded", name) for name in given.datasets.split(",")]
    metas = [
        json.loads((f / "meta.json").read_text()) | json.loads((f / "search.json").read_text())
        for f in folders
    ]
    table.write_csv(metas, Path(given.csv))
    table.write_text(metas, Path(given.text))
