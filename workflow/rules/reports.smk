# Claims, tables, notebooks and the page that brings them together.
rule claims:
    input:
        lambda w: PLAN.traces_of(w.paper, PLAN.papers[w.paper].raw["experiments"]),
        lambda w: PLAN.references_of(w.paper, PLAN.papers[w.paper].raw["experiments"]),
        key=f"{RESULTS}/keys/claims/{{paper}}.key",
    output:
        claims=report(
            f"{RESULTS}/tables/{{paper}}_claims.csv",
            caption="../report/claims.rst",
            category="{paper}",
        ),
        slips=f"{RESULTS}/tables/{{paper}}_slips.csv",
        evidence=f"{RESULTS}/tables/{{paper}}_evidence.parquet",
        strips=directory(f"{RESULTS}/figures/claims/{{paper}}"),
    log:
        f"{RESULTS}/logs/claims/{{paper}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(f"{RESULTS}/logs/claims/*.cost"),
    params:
        record=lambda w: PLAN.record(w.paper, "claims", "slips"),
        code=lambda w: PLAN.claims_code(w.paper),
    message:
        "Judging the claims of {wildcards.paper}"
    shell:
        "python workflow/scripts/judge_claims.py log={log:q} claims={output.claims:q}"
        " slips={output.slips:q} evidence={output.evidence:q} strips={output.strips:q}"
        " paper={wildcards.paper:q} record={params.record:q}"


rule all_claims:
    input:
        claims=[f"{RESULTS}/tables/{paper}_claims.csv" for paper in PLAN.papers],
        evidence=[f"{RESULTS}/tables/{paper}_evidence.parquet" for paper in PLAN.papers],
    output:
        claims=f"{RESULTS}/claims.csv",
        evidence=f"{RESULTS}/evidence.parquet",
    log:
        f"{RESULTS}/logs/claims.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(f"{RESULTS}/logs/claims.cost"),
    params:
        claims=lambda w, input: ",".join(input.claims),
        code=PLAN.code("gather_claims"),
    message:
        "Gathering all claims"
    shell:
        "python workflow/scripts/gather_claims.py log={log:q} claims={params.claims:q}"
        " output={output.claims:q} evidence={output.evidence:q}"


rule hyperparameters:
    input:
        "config/papers/{paper}.yaml",
    output:
        f"{RESULTS}/tables/{{paper}}_hyperparameters.csv",
    log:
        f"{RESULTS}/logs/tables/{{paper}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(f"{RESULTS}/logs/tables/*.cost"),
    params:
        scale=CONFIG.scale,
        code=PLAN.code("list_hyperparameters"),
    message:
        "Listing the hyper-parameters of {wildcards.paper} with their sources"
    shell:
        "python workflow/scripts/list_hyperparameters.py log={log:q} output={output:q}"
        " paper={wildcards.paper:q} scale={params.scale:q}"


rule notebook:
    input:
        lambda w: PLAN.all_figures(w.paper),
        f"{RESULTS}/tables/{{paper}}_claims.csv",
        source="notebooks/{paper}.ipynb",
        key=f"{RESULTS}/keys/notebooks/{{paper}}.key",
    output:
        ipynb=f"{RESULTS}/notebooks/{{paper}}.ipynb",
        html=f"{RESULTS}/notebooks/{{paper}}.html",
    log:
        f"{RESULTS}/logs/notebooks/{{paper}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(f"{RESULTS}/logs/notebooks/*.cost"),
    params:
        code=lambda w: PLAN.notebook_code(w.paper),
    message:
        "Executing the notebook of {wildcards.paper}"
    shell:
        "python workflow/scripts/execute_notebook.py log={log:q} output={output.ipynb:q} notebook={input.source:q}"


# Run again with every other report: costs lie beside the logs, which are nobody's inputs.
rule costs:
    input:
        [PLAN.paper_files(paper) for paper in PLAN.papers],
    output:
        table=f"{RESULTS}/tables/costs.csv",
        figure=report(
            f"{RESULTS}/figures/costs.svg",
            caption="../report/costs.rst",
            category="report",
        ),
        more=PLAN.cost_files[2:],
    log:
        f"{RESULTS}/logs/costs.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(f"{RESULTS}/logs/costs.cost"),
    params:
        scale=CONFIG.scale,
        papers=",".join(PLAN.papers),
        figures=",".join(PLAN.cost_files[1:]),
        code=PLAN.code("count_costs"),
    message:
        "Adding up what the jobs took"
    shell:
        "python workflow/scripts/count_costs.py log={log:q} table={output.table:q} figures={params.figures:q}"
        " scale={params.scale:q} papers={params.papers:q}"


# All papers on one page of prose: it reads their claims, whichever papers there are.
rule overview:
    input:
        f"{RESULTS}/claims.csv",
        f"{RESULTS}/evidence.parquet",
        source="notebooks/overview.ipynb",
        key=f"{RESULTS}/keys/notebooks/overview.key",
    output:
        ipynb=f"{RESULTS}/notebooks/overview.ipynb",
        html=f"{RESULTS}/notebooks/overview.html",
    log:
        f"{RESULTS}/logs/notebooks/overview.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(f"{RESULTS}/logs/notebooks/overview.cost"),
    params:
        record=[PLAN.record(paper, "claims", "slips") for paper in PLAN.papers],
        code=PLAN.notebook_code("overview"),
    message:
        "Executing the overview"
    shell:
        "python workflow/scripts/execute_notebook.py log={log:q} output={output.ipynb:q} notebook={input.source:q}"


rule page:
    input:
        [PLAN.paper_files(paper) for paper in PLAN.papers],
        [PLAN.trace(block) for block in CONFIG.blocks],
        f"{RESULTS}/claims.csv",
        sorted(glob.glob("results/benchmarks/*.svg")),  # of `make bench` and `make scaling`
    output:
        report(
            f"{RESULTS}/report/index.html",
            caption="../report/page.rst",
            category="report",
        ),
    log:
        f"{RESULTS}/logs/report.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(f"{RESULTS}/logs/report.cost"),
    params:
        scale=CONFIG.scale,
        papers=",".join(PLAN.papers),
        record=[
            PLAN.record(paper, "figures", "claims", "slips") for paper in PLAN.papers
        ],
        code=PLAN.code("write_report"),
    message:
        "Writing the report"
    shell:
        "python workflow/scripts/write_report.py log={log:q} output={output:q}"
        " scale={params.scale:q} papers={params.papers:q}"


# Lists what no rule makes; --config remove=true removes it.
rule tidy:
    log:
        f"{RESULTS}/logs/tidy.log",
    localrule: True
    conda:
        ENVIRONMENT
    threads: 1
    params:
        scale=CONFIG.scale,
        flag="--remove" if CONFIG.remove else "",
    message:
        "Looking for files that no rule makes"
    shell:
        "fedrepro --scale {params.scale:q} tidy {params.flag} 2>&1 | tee {log:q}"
