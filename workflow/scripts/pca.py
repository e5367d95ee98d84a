from pathlib import Path

from fedrepro import datasets
from fedrepro.datasets import preprocess
from fedrepro.pipeline.jobs import job

with job() as given:
    dataset = datasets.load(given.dataset)
    rows = dataset.X[: len(dataset.train)]  # the training rows come first in every image set
    for centre, path in ((True, given.centred), (False, given.uncentred)):
        pca = preprocess.fit_pca(rows, int(given.components), centre)
        preprocess.save_pca(pca, Path(path), dataset.checksum)
    print(f"{dataset.title}: {len(rows)} rows, {given.components} directions")
