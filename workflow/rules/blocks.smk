# A block: one experiment x one algorithm, its grid, settings and seeds included.
rule block:
    input:
        unpack(lambda w: PLAN.data(PLAN.experiments[w.experiment])),
        reference=f"{RESULTS}/reference/{{experiment}}.npz",
        key=f"{RESULTS}/keys/traces/{{experiment}}/{{block}}.key",
    output:
        f"{RESULTS}/traces/{{experiment}}/{{block}}.parquet",
    log:
        f"{RESULTS}/logs/blocks/{{experiment}}/{{block}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda w: PLAN.blocks[w.experiment, w.block].mem_mb,
    params:
        block=lambda w: PLAN.blocks[w.experiment, w.block].to_json(),
        partition=lambda w, input: input.get("partition", ""),
        key=lambda w: PLAN.block_key(PLAN.blocks[w.experiment, w.block]),
    message:
        "Running {wildcards.block} on {wildcards.experiment}"
    shell:
        "python workflow/scripts/run_block.py log={log:q} output={output:q}"
        " block={params.block:q} reference={input.reference:q} partition={params.partition:q}"
        " key={params.key:q}"
