from pathlib import Path

from fedrepro import datasets
from fedrepro.pipeline.jobs import job

with job() as given:
    Path(given.output).write_text(datasets.verify(given.dataset) + "\n")
