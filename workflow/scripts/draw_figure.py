from pathlib import Path

from fedrepro.experiments.results import Results
from fedrepro.pipeline.jobs import job
from fedrepro.reporting.figures import render

with job() as given:
    svg = Path(given.output)
    experiments = [f"{given.paper}_{name}" for name in given.experiments.split(",")]
    render(given.paper, given.figure, Results(svg.parents[2]), experiments, svg.with_suffix(""))
