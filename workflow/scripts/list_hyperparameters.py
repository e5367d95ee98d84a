from fedrepro.pipeline.config import load
from fedrepro.pipeline.jobs import job
from fedrepro.reporting.tables import write_hyperparameters

with job() as given:
    paper = load({"scale": given.scale, "papers": [given.paper]}).papers[given.paper]
    write_hyperparameters(paper, given.output)
