from pathlib import Path

from fedrepro.pipeline.jobs import job
from fedrepro.reporting.notebooks import execute

with job() as given:
    output = Path(given.output)
    execute(Path(given.notebook), output, output.with_suffix(".html"), output.parents[1])
