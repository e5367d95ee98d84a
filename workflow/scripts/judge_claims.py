from pathlib import Path

from fedrepro import claims
from fedrepro.config import load
from fedrepro.jobs import job
from fedrepro.results import Results

with job() as given:
    output = Path(given.output)
    paper = load({"scale": given.scale, "papers": [given.paper]}).papers[given.paper]
    claims.write(output, claims.judge(paper, Results(output.parents[1])))
