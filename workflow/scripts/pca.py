"""Principal directions of the training rows of one dataset."""

from pathlib import Path

from fedrepro import datasets, preprocess

job = snakemake  # noqa: F821
dataset = datasets.load(job.wildcards.dataset)
rows = dataset.X[: len(dataset.train)]  # the training rows come first in every image set
pca = preprocess.fit_pca(rows, job.params.components, job.wildcards.centring == "centred")
preprocess.save_pca(pca, Path(job.output[0]), dataset.checksum)
Path(job.log[0]).write_text(f"{dataset.title}: {len(rows)} rows, {job.params.components} directions\n")
