from pathlib import Path

from fedrepro.config import load
from fedrepro.jobs import job
from fedrepro.report import write
from fedrepro.results import Results

with job() as given:
    output = Path(given.output)
    config = load({"scale": given.scale, "papers": given.papers.split(",")})
    write(config, Results(output.parents[1]), output)
