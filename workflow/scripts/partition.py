import json

from fedrepro import datasets
from fedrepro.datasets import partition
from fedrepro.pipeline.jobs import job

with job() as given:
    dataset, seeds = datasets.load(given.dataset), range(int(given.seeds))
    try:
        variants = {
            name: [partition.build(dataset, given.scheme, seed, parameters) for seed in seeds]
            for name, parameters in json.loads(given.parameters).items()
        }
    except datasets.DataError as error:
        raise datasets.DataError(f"partition {given.name}: {error}") from None
    partition.save(given.output, variants, json.loads(given.from_setting))
    for name, parts in variants.items():
        print(*(f"{name}, seed {p.seed}: {len(p)} clients, {p.hash}" for p in parts), sep="\n")
