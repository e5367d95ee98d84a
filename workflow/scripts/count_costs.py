from pathlib import Path

from fedrepro.datasets.files import written
from fedrepro.pipeline import costs
from fedrepro.pipeline.jobs import job
from fedrepro.pipeline.plan import Plan
from fedrepro.reporting.costs import picture
from fedrepro.reporting.figures import save

with job() as given:
    plan = Plan({"scale": given.scale, "papers": given.papers.split(",")})
    with written(given.table) as temporary:
        costs.table(plan).to_csv(temporary, index=False)
    save(picture(costs.bill(plan)), *map(Path, given.figures.split(",")))
