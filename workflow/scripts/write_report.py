from pathlib import Path

from fedrepro.experiments.results import Results
from fedrepro.pipeline import costs
from fedrepro.pipeline.jobs import job
from fedrepro.pipeline.plan import Plan
from fedrepro.reporting.page import write

with job() as given:
    output = Path(given.output)
    plan = Plan({"scale": given.scale, "papers": given.papers.split(",")})
    write(list(plan.papers.values()), Results(output.parents[1]), output, bill=costs.bill(plan))
