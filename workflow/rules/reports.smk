# Claims, tables, notebooks and the page that brings them together.
rule claims:
    input:
        lambda w: PLAN.traces_of(w.paper, PLAN.papers[w.paper].raw["experiments"]),
        lambda w: PLAN.references_of(w.paper, PLAN.papers[w.paper].raw["experiments"]),
    output:
        report(
            f"{RESULTS}/tables/{{paper}}_claims.csv",
            caption="../report/claims.rst",
            category="{paper}",
        ),
    log:
        f"{RESULTS}/logs/claims/{{paper}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        scale=CONFIG.scale,
        record=lambda w: PLAN.record(w.paper, "claims"),
        code=lambda w: PLAN.code(f"fedrepro.claims.{w.paper}", "fedrepro.claims"),
    message:
        "Judging the claims of {wildcards.paper}"
    shell:
        "python workflow/scripts/judge_claims.py log={log} output={output}"
        " paper={wildcards.paper} scale={params.scale}"


rule all_claims:
    input:
        [f"{RESULTS}/tables/{paper}_claims.csv" for paper in PLAN.papers],
    output:
        f"{RESULTS}/claims.csv",
    log:
        f"{RESULTS}/logs/claims.log",
    conda:
        ENVIRONMENT
    threads: 1
    message:
        "Gathering all claims"
    shell:
        "awk 'FNR > 1 || NR == 1' {input} > {output} 2> {log}"


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
    params:
        scale=CONFIG.scale,
        code=PLAN.code("fedrepro.report.tables"),
    message:
        "Listing the hyper-parameters of {wildcards.paper} with their sources"
    shell:
        "python workflow/scripts/list_hyperparameters.py log={log} output={output}"
        " paper={wildcards.paper} scale={params.scale}"


rule notebook:
    input:
        lambda w: PLAN.all_figures(w.paper),
        f"{RESULTS}/claims.csv",
        source="notebooks/{paper}.ipynb",
    output:
        ipynb=f"{RESULTS}/notebooks/{{paper}}.ipynb",
        html=f"{RESULTS}/notebooks/{{paper}}.html",
    log:
        f"{RESULTS}/logs/notebooks/{{paper}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        code=PLAN.code("fedrepro.report.notebooks", "fedrepro.results"),
    message:
        "Executing the notebook of {wildcards.paper}"
    shell:
        "python workflow/scripts/execute_notebook.py log={log} output={output.ipynb} notebook={input.source}"


rule page:
    input:
        [PLAN.paper_files(paper) for paper in PLAN.papers],
        [PLAN.trace(block) for block in CONFIG.blocks],
        f"{RESULTS}/claims.csv",
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
    params:
        scale=CONFIG.scale,
        papers=",".join(PLAN.papers),
        record=[
            PLAN.record(paper, "figures", "claims", "slips") for paper in PLAN.papers
        ],
        code=PLAN.code("fedrepro.report"),
    message:
        "Writing the report"
    shell:
        "python workflow/scripts/write_report.py log={log} output={output}"
        " scale={params.scale} papers={params.papers}"
