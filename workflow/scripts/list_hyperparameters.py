from fedrepro.config import load
from fedrepro.jobs import job
from fedrepro.report.tables import write_hyperparameters

with job() as given:
    paper = load({"scale": given.scale, "papers": [given.paper]}).papers[given.paper]
    write_hyperparameters(paper, given.output)
