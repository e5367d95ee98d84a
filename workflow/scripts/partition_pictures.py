from pathlib import Path

from fedrepro import datasets
from fedrepro.datasets import partition
from fedrepro.pipeline.jobs import job
from fedrepro.reporting import partitions

with job() as given:
    for name in given.names.split(","):
        clients = partition.read(Path(given.parts, f"{name}.npz"), 0)
        dataset = datasets.load(clients.dataset)
        figure = partitions.draw(clients, dataset, f"{given.paper} · {name}", given.scale)
        for kind in ("svg", "png"):
            partitions.save(figure, Path(given.output, f"{given.paper}_{name}.{kind}"))
        partitions.close(figure)
