"""The picture of one partition, seed 0."""

from pathlib import Path

from fedrepro import datasets, partition
from fedrepro.figures import partitions

job = snakemake  # noqa: F821
clients = partition.read(job.input.parts, 0)
dataset = datasets.load(clients.dataset)
figure = partitions.draw(
    clients, dataset, f"{job.wildcards.paper} · {job.wildcards.partition}", job.wildcards.scale
)
for path in job.output:
    partitions.save(figure, Path(path))
Path(job.log[0]).write_text(f"{len(clients)} clients of {dataset.title}\n")
