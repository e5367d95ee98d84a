# Datasets and clients: sources -> data/decoded -> data/parts, a picture of every partition, and the table.
import json
import os
import time
from pathlib import Path

from fedrepro.datasets.transport.sources import put_by_hand

# One name per run, inherited by its jobs: hosts that do not answer are remembered under it.
os.environ.setdefault("FEDREPRO_RUN", f"{os.getpid()}-{time.time():.0f}")

DATA = PLAN.datasets


wildcard_constraints:
    dataset="|".join(DATA.datasets),
    scale="smoke|quick|paper",


localrules:
    data,


rule data:
    input:
        "results/datasets.csv",
        expand("data/decoded/{dataset}/pca_centred.npz", dataset=DATA.with_pca()),
        [DATA.parts(paper) + DATA.pictures(paper) for paper in DATA.papers()],
        table="results/datasets.txt",
    log:
        "results/logs/data/data.log",
    conda:
        ENVIRONMENT
    threads: 1
    message:
        "All datasets"
    shell:
        "cat {input.table:q} | tee {log:q}"


rule decode:
    input:
        # Files put there by hand: adding one makes the rule run again.
        lambda w: put_by_hand(DATA.files_of(w.dataset), Path("data")),
    output:
        meta="data/decoded/{dataset}/meta.json",
        search="data/decoded/{dataset}/search.json",
    log:
        "results/logs/data/{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request("results/logs/data/*.cost", mem_mb=4000),
    params:
        policy=CONFIG.data,
        may_download=lambda w: DATA.may_download(w.dataset),
        declared=lambda w: DATA.declaration(w.dataset),
        code=lambda w: DATA.code_of(w.dataset),
    message:
        "Finding and decoding {wildcards.dataset}"
    shell:
        "python workflow/scripts/fetch.py log={log:q} dataset={wildcards.dataset:q}"
        " policy={params.policy:q} may_download={params.may_download:q} declared={params.declared:q}"


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
        **request("results/logs/data/*_pca.cost", mem_mb=2000),
    params:
        components=lambda w: DATA.datasets[w.dataset]["pca"],
        code=PLAN.code("pca"),
    message:
        "Principal directions of {wildcards.dataset}"
    shell:
        "python workflow/scripts/pca.py log={log:q} dataset={wildcards.dataset:q}"
        " components={params.components:q} centred={output.centred:q} uncentred={output.uncentred:q}"


rule partition:
    input:
        lambda w: "data/decoded/{dataset}/meta.json".format(
            **DATA.partitions[w.paper, w.partition]
        ),
    output:
        "data/parts/{scale}/{paper}/{partition}.npz",
    log:
        "results/logs/data/{scale}_{paper}_{partition}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(f"results/logs/data/{CONFIG.scale}_*.cost", mem_mb=2000),
    params:
        dataset=lambda w: DATA.partitions[w.paper, w.partition]["dataset"],
        scheme=lambda w: DATA.partitions[w.paper, w.partition]["scheme"],
        parameters=lambda w: DATA.parameters(w.paper, w.partition),
        from_setting=lambda w: json.dumps(DATA.from_setting(w.paper, w.partition)),
        seeds=lambda w: DATA.seeds(w.paper, w.partition),
        code=PLAN.code("partition"),
    message:
        "Clients of {wildcards.paper} {wildcards.partition} at scale {wildcards.scale}"
    shell:
        "python workflow/scripts/partition.py log={log:q} output={output:q}"
        " name={wildcards.paper:q}.{wildcards.partition:q} dataset={params.dataset:q}"
        " scheme={params.scheme:q} parameters={params.parameters:q}"
        " from_setting={params.from_setting:q} seeds={params.seeds:q}"


# One job draws all the pictures of a paper: starting to draw takes longer than drawing.
for paper in DATA.papers():

    rule:
        name:
            f"partition_pictures_{paper}"
        input:
            DATA.parts(paper),
        output:
            DATA.pictures(paper),
        log:
            f"results/logs/data/{CONFIG.scale}_{paper}_pictures.log",
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            **request(f"results/logs/data/{CONFIG.scale}_*_pictures.cost", mem_mb=1000),
        params:
            paper=paper,
            names=",".join(DATA.names(paper)),
            scale=CONFIG.scale,
            parts=lambda w, input: os.path.dirname(input[0]),
            folder=lambda w, output: os.path.dirname(output[0]),
            code=PLAN.code("partition_pictures"),
        message:
            f"Pictures of the clients of {paper}"
        shell:
            "python workflow/scripts/partition_pictures.py log={log:q} paper={params.paper:q}"
            " parts={params.parts:q} names={params.names:q} scale={params.scale:q} output={params.folder:q}"


rule datasets_table:
    input:
        expand(
            "data/decoded/{dataset}/{kind}.json",
            dataset=DATA.datasets,
            kind=["meta", "search"],
        ),
    output:
        csv="results/datasets.csv",
        text="results/datasets.txt",
    log:
        "results/logs/data/table.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request("results/logs/data/table.cost", mem_mb=500),
    params:
        datasets=",".join(DATA.datasets),
        code=PLAN.code("datasets_table"),
    message:
        "Table of the datasets"
    shell:
        "python workflow/scripts/datasets_table.py log={log:q} datasets={params.datasets:q}"
        " csv={output.csv:q} text={output.text:q}"


# Every byte of every decoded dataset against its checksum; jobs look at samples only.
rule verify_dataset:
    input:
        "data/decoded/{dataset}/meta.json",
    output:
        temp("data/decoded/{dataset}/.verified"),
    log:
        "results/logs/data/{dataset}_verify.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request("results/logs/data/*_verify.cost", mem_mb=2000),
    message:
        "Looking at every byte of {wildcards.dataset}"
    shell:
        "python workflow/scripts/verify.py log={log:q} dataset={wildcards.dataset:q} output={output:q}"


rule verify:
    input:
        expand("data/decoded/{dataset}/.verified", dataset=DATA.datasets),
    message:
        "All decoded data are what they were"
