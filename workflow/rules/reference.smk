# The optimum and the constants of every problem, computed once and shared by all its blocks.
rule reference:
    input:
        unpack(lambda w: PLAN.data(PLAN.experiments[w.experiment])),
    output:
        f"{RESULTS}/reference/{{experiment}}.npz",
    log:
        f"{RESULTS}/logs/reference/{{experiment}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda w: PLAN.experiments[w.experiment].mem_mb,
    params:
        block=lambda w: PLAN.experiments[w.experiment].problem_json(),
        partition=lambda w, input: input.get("partition", ""),
        code=lambda w: PLAN.problem_code(PLAN.experiments[w.experiment]),
    message:
        "Solving the reference problems of {wildcards.experiment}"
    shell:
        "python workflow/scripts/solve_reference.py log={log} output={output}"
        " block={params.block:q} partition={params.partition}"
