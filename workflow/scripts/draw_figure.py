from pathlib import Path

from fedrepro.experiments.results import Results
from fedrepro.pipeline.jobs import job
from fedrepro.reporting.figures import draw, save

with job() as given:
    files = [Path(name) for name in given.output.split(",")]
    experiments = [f"{given.paper}_{name}" for name in given.experiments.split(",")]
    save(draw(given.paper, given.figure, Results(files[0].parents[2]), experiments), *files)
