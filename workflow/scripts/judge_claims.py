import json
from pathlib import Path

from fedrepro.experiments.results import Results
from fedrepro.pipeline.jobs import job
from fedrepro.reporting import claims, evidence

with job() as given:
    results = Results(Path(given.claims).parents[1])
    entries, slips = json.loads(given.record)
    found = claims.measure(given.paper, entries, results)
    judged = claims.judge(entries, found, results.scale)
    evidence.write(given.evidence, [evidence.table(given.paper, found)])
    claims.write_strips(Path(given.strips), entries, judged)
    claims.write(given.claims, claims.COLUMNS, claims.table(given.paper, entries, judged, results.scale))
    claims.write(given.slips, claims.SLIPS, claims.examine(given.paper, slips or [], results))
