from pathlib import Path

import pandas as pd

from fedrepro.datasets.files import written
from fedrepro.pipeline.jobs import job
from fedrepro.reporting import evidence

with job() as given:
    tables = [Path(path) for path in given.claims.split(",")]
    whole = pd.concat([pd.read_csv(path, keep_default_na=False, dtype=str) for path in tables])
    with written(given.output) as temporary:
        whole.to_csv(temporary, index=False)
    paths = [path.with_name(path.name.replace("_claims.csv", "_evidence.parquet")) for path in tables]
    evidence.write(given.evidence, [pd.read_parquet(path) for path in paths])
