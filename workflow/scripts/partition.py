import json

from fedrepro import datasets, partition
from fedrepro.jobs import job

with job() as given:
    dataset, parameters = datasets.load(given.dataset), json.loads(given.parameters)
    try:
        parts = [partition.build(dataset, given.scheme, seed, parameters) for seed in range(int(given.seeds))]
    except datasets.DataError as error:
        raise datasets.DataError(f"partition {given.name}: {error}") from None
    partition.save(given.output, parts)
    print(*(f"seed {p.seed}: {len(p)} clients, {p.hash}" for p in parts), sep="\n")
