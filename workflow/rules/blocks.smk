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
    wildcard_constraints:
        experiment="|".join(PLAN.alone()) or "-",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(
            f"{RESULTS}/logs/blocks/*/*.cost",
            mem_mb=lambda w: PLAN.blocks[w.experiment, w.block].mem_mb,
        ),
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


# All blocks of an experiment in one job, at scales where starting jobs would take longer than they do.
for experiment, together in PLAN.together().items():

    rule:
        name:
            f"blocks_{experiment}"
        input:
            unpack(lambda w, name=experiment: PLAN.data(PLAN.experiments[name])),
            reference=PLAN.reference(experiment),
            key=[
                f"{RESULTS}/keys/traces/{experiment}/{block.name}.key"
                for block in together
            ],
        output:
            [PLAN.trace(block) for block in together],
        log:
            f"{RESULTS}/logs/blocks/{experiment}.log",
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            **request(
                f"{RESULTS}/logs/blocks/{experiment}.cost",
                mem_mb=max(block.mem_mb for block in together),
            ),
        params:
            blocks=PLAN.listed(together),
            partition=lambda w, input: input.get("partition", ""),
        message:
            f"Running all blocks of {experiment}"
        shell:
            "python workflow/scripts/run_blocks.py log={log:q} reference={input.reference:q}"
            " partition={params.partition:q} blocks={params.blocks:q}"
