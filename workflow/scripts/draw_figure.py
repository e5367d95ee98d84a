from pathlib import Path

from fedrepro.figures import render
from fedrepro.jobs import job
from fedrepro.results import Results

with job() as given:
    svg = Path(given.output)
    experiments = [f"{given.paper}_{name}" for name in given.experiments.split(",")]
    render(given.paper, given.figure, Results(svg.parents[2]), experiments, svg.with_suffix(""))
