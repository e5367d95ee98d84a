from pathlib import Path

from fedrepro.jobs import job
from fedrepro.report.notebooks import execute

with job() as given:
    output = Path(given.output)
    execute(Path(given.notebook), output, output.with_suffix(".html"), output.parents[1])
