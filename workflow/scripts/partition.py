"""All seeds of one declared partition."""

import sys
from pathlib import Path

from fedrepro import datasets, partition

job = snakemake  # noqa: F821
params = job.params
try:
    dataset = datasets.load(params.dataset)
    parts = [partition.build(dataset, params.scheme, seed, params.parameters) for seed in range(params.seeds)]
except datasets.DataError as error:
    sys.exit(f"{job.wildcards.paper}: partitions.{job.wildcards.partition}: {error}")
partition.save(job.output[0], parts)
Path(job.log[0]).write_text("".join(f"seed {p.seed}: {len(p)} clients, {p.hash}\n" for p in parts))
