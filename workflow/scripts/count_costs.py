from pathlib import Path

from fedrepro.datasets.files import written
from fedrepro.pipeline import costs
from fedrepro.pipeline.jobs import job
from fedrepro.pipeline.plan import Plan
from fedrepro.reporting.costs import picture
from fedrepro.reporting.figures import save

with job() as given:
    plan = Plan({"scale": given.scale, "papers": given.papers.split(",")})
    found = costs.table(plan)
    with written(given.table) as temporary:
        found.to_csv(temporary, index=False)
    seconds = dict(zip(found["job"], found["cpu_seconds"].fillna(0.0), strict=True))
    after = {name: one.after for name, one in costs.jobs(plan).items()}
    minutes = {n: costs.makespan(after, seconds, n) / 60 for n in costs.CORES}
    missing = int(found["cpu_seconds"].isna().sum())
    save(picture(costs.by_part(found), minutes, missing), Path(given.figure).with_suffix(""))
