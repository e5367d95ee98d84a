# Datasets and clients: sources -> data/decoded -> data/parts, a picture of every partition, and the table.
import json
import os
import time
from pathlib import Path

from fedrepro.config import at_scale
from fedrepro.datasets import catalogue, sources
from fedrepro.provenance import code_hash

# One name per run, inherited by its jobs: hosts that do not answer are remembered under it.
os.environ.setdefault("FEDREPRO_RUN", f"{os.getpid()}-{time.time():.0f}")

CATALOGUE = catalogue.declared()
LIMIT_MB = None if CONFIG.scale == "paper" else CONFIG.download_limit_mb
PARTITIONS = {
    (paper.name, name): entry
    for paper in CONFIG.papers.values()
    for name, entry in paper.raw.get("partitions", {}).items()
}


def dataset_files(name):
    return sorted(
        {
            file
            for variant in CATALOGUE["datasets"][name]["variants"]
            for file in variant["files"]
        }
    )


def dataset_modules(name):
    entry = CATALOGUE["datasets"][name]
    paths = [variant["parser"] for variant in entry["variants"]] + [
        entry["standin"]["generator"]
    ]
    return sorted({f"fedrepro.datasets.{path.split('.')[0]}" for path in paths})


def may_download(name):
    # Which of its files the download limit lets through: what makes the answer differ between scales.
    if LIMIT_MB is None:
        return dataset_files(name)
    return sorted(
        sources.affordable(CATALOGUE["files"], LIMIT_MB) & set(dataset_files(name))
    )


def partition_parameters(wildcards):
    entry = PARTITIONS[wildcards.paper, wildcards.partition]
    return {
        k: at_scale(v, wildcards.scale)
        for k, v in sorted(entry.get("parameters", {}).items())
    }


def partition_seeds(wildcards):
    wanted = [
        block.seeds
        for block in CONFIG.blocks
        if (block.paper, block.partition) == (wildcards.paper, wildcards.partition)
    ]
    return max(wanted, default=CONFIG.seeds[wildcards.scale])


def partition_dataset(wildcards):
    return PARTITIONS[wildcards.paper, wildcards.partition]["dataset"]


DECODED = expand("data/decoded/{dataset}/meta.json", dataset=CATALOGUE["datasets"])
PRINCIPAL = expand(
    "data/decoded/{dataset}/pca_centred.npz",
    dataset=[name for name, entry in CATALOGUE["datasets"].items() if "pca" in entry],
)
PARTS = [f"data/parts/{CONFIG.scale}/{paper}/{name}.npz" for paper, name in PARTITIONS]
PARTITION_PICTURES = [
    f"{RESULTS}/figures/partitions/{paper}_{name}.png" for paper, name in PARTITIONS
]


wildcard_constraints:
    dataset="|".join(CATALOGUE["datasets"]),
    scale="smoke|quick|paper",


localrules:
    data,


rule data:
    input:
        "results/datasets.csv",
        PRINCIPAL,
        PARTS,
        PARTITION_PICTURES,
        table="results/datasets.txt",
    log:
        "results/logs/data/data.log",
    conda:
        ENVIRONMENT
    threads: 1
    message:
        "All datasets"
    shell:
        "cat {input.table} | tee {log}"


rule decode:
    input:
        # Files put there by hand: adding one makes the rule run again.
        lambda w: sources.put_by_hand(dataset_files(w.dataset), Path("data")),
    output:
        "data/decoded/{dataset}/meta.json",
    log:
        "results/logs/data/{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=4000,
    params:
        policy=CONFIG.data,
        may_download=lambda w: ",".join(may_download(w.dataset)),
        declared=lambda w: json.dumps(CATALOGUE["datasets"][w.dataset], sort_keys=True),
        code=lambda w: code_hash(
            "fedrepro.datasets.decode", *dataset_modules(w.dataset)
        ),
    message:
        "Finding and decoding {wildcards.dataset}"
    shell:
        "python workflow/scripts/fetch.py log={log} dataset={wildcards.dataset}"
        " policy={params.policy} may_download={params.may_download}"


rule pca:
    input:
        "data/decoded/{dataset}/meta.json",
    output:
        centred="data/decoded/{dataset}/pca_centred.npz",
        uncentred="data/decoded/{dataset}/pca_uncentred.npz",
    log:
        "results/logs/data/{dataset}_pca.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=2000,
    params:
        components=lambda w: CATALOGUE["datasets"][w.dataset]["pca"],
        code=code_hash("fedrepro.preprocess"),
    message:
        "Principal directions of {wildcards.dataset}"
    shell:
        "python workflow/scripts/pca.py log={log} dataset={wildcards.dataset}"
        " components={params.components} centred={output.centred} uncentred={output.uncentred}"


rule partition:
    input:
        lambda w: f"data/decoded/{partition_dataset(w)}/meta.json",
    output:
        "data/parts/{scale}/{paper}/{partition}.npz",
    log:
        "results/logs/data/{scale}_{paper}_{partition}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=2000,
    params:
        dataset=partition_dataset,
        scheme=lambda w: PARTITIONS[w.paper, w.partition]["scheme"],
        parameters=lambda w: json.dumps(partition_parameters(w), sort_keys=True),
        seeds=partition_seeds,
        code=code_hash("fedrepro.partition"),
    message:
        "Clients of {wildcards.paper} {wildcards.partition} at scale {wildcards.scale}"
    shell:
        "python workflow/scripts/partition.py log={log} output={output}"
        " name={wildcards.paper}.{wildcards.partition} dataset={params.dataset}"
        " scheme={params.scheme} parameters={params.parameters:q} seeds={params.seeds}"


rule partition_picture:
    input:
        parts="data/parts/{scale}/{paper}/{partition}.npz",
    output:
        svg="results/{scale}/figures/partitions/{paper,[a-z0-9]+}_{partition}.svg",
        png="results/{scale}/figures/partitions/{paper,[a-z0-9]+}_{partition}.png",
    log:
        "results/logs/data/{scale}_{paper}_{partition}_picture.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_hash("fedrepro.figures.partitions"),
    message:
        "Picture of the clients of {wildcards.paper} {wildcards.partition}"
    shell:
        "python workflow/scripts/partition_picture.py log={log} parts={input.parts}"
        " title={wildcards.paper}.{wildcards.partition} scale={wildcards.scale}"
        " svg={output.svg} png={output.png}"


rule datasets_table:
    input:
        DECODED,
    output:
        csv="results/datasets.csv",
        text="results/datasets.txt",
    log:
        "results/logs/data/table.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    params:
        datasets=",".join(CATALOGUE["datasets"]),
        code=code_hash("fedrepro.datasets.table"),
    message:
        "Table of the datasets"
    shell:
        "python workflow/scripts/datasets_table.py log={log} datasets={params.datasets}"
        " csv={output.csv} text={output.text}"
