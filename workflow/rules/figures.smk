# Figures read traces and references; they never solve.
rule figure:
    input:
        traces=lambda w: PLAN.traces_of(
            w.paper, PLAN.entry(w.paper, "figures", w.figure)["experiments"]
        ),
        references=lambda w: PLAN.references_of(
            w.paper, PLAN.entry(w.paper, "figures", w.figure)["experiments"]
        ),
        key=f"{RESULTS}/keys/figures/{{paper}}/{{figure}}.key",
    output:
        svg=report(
            f"{RESULTS}/figures/{{paper}}/{{figure}}.svg",
            caption="../report/figure.rst",
            category="{paper}",
            labels={"figure": "{figure}"},
        ),
        pdf=f"{RESULTS}/figures/{{paper}}/{{figure}}.pdf",
        png=f"{RESULTS}/figures/{{paper}}/{{figure}}.png",
    log:
        f"{RESULTS}/logs/figures/{{paper}}/{{figure}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        experiments=lambda w: ",".join(
            PLAN.entry(w.paper, "figures", w.figure)["experiments"]
        ),
        code=lambda w: PLAN.figure_code(w.paper, w.figure),
        title=lambda w: PLAN.entry(w.paper, "figures", w.figure)["title"],
        caption=lambda w: PLAN.entry(w.paper, "figures", w.figure)["caption"],
    message:
        "Drawing {wildcards.paper} {wildcards.figure}"
    shell:
        "python workflow/scripts/draw_figure.py log={log:q} output={output.svg:q}"
        " paper={wildcards.paper:q} figure={wildcards.figure:q} experiments={params.experiments:q}"
