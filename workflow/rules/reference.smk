# The optimum and the constants of every problem, computed once and shared by all its blocks.
rule reference:
    input:
        unpack(lambda w: PLAN.data(PLAN.experiments[w.experiment])),
        key=f"{RESULTS}/keys/reference/{{experiment}}.key",
    output:
        f"{RESULTS}/reference/{{experiment}}.npz",
    log:
        f"{RESULTS}/logs/reference/{{experiment}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(f"{RESULTS}/logs/reference/*.cost", mem_mb=2000),
    params:
        experiment=lambda w: PLAN.experiments[w.experiment].to_json(),
        partition=lambda w, input: input.get("partition", ""),
        key=lambda w: PLAN.reference_key(PLAN.experiments[w.experiment]),
    message:
        "Solving the reference problems of {wildcards.experiment}"
    shell:
        "python workflow/scripts/solve_reference.py log={log:q} output={output:q}"
        " experiment={params.experiment:q} partition={params.partition:q}"
        " key={params.key:q}"
