from pathlib import Path

from fedrepro.experiments.results import Results
from fedrepro.pipeline.config import load
from fedrepro.pipeline.jobs import job
from fedrepro.reporting.page import write

with job() as given:
    output = Path(given.output)
    config = load({"scale": given.scale, "papers": given.papers.split(",")})
    write(list(config.papers.values()), Results(output.parents[1]), output)
