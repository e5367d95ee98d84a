from pathlib import Path

from fedrepro import datasets, partition
from fedrepro.figures import partitions
from fedrepro.jobs import job

with job() as given:
    clients = partition.read(given.parts, 0)
    figure = partitions.draw(clients, datasets.load(clients.dataset), given.title, given.scale)
    for path in (given.svg, given.png):
        partitions.save(figure, Path(path))
