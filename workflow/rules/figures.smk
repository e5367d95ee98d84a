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
        more=[
            f"{RESULTS}/figures/{{paper}}/{{figure}}.{kind}" for kind in PLAN.kinds[1:]
        ],
    log:
        f"{RESULTS}/logs/figures/{{paper}}/{{figure}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        **request(f"{RESULTS}/logs/figures/*/*.cost"),
    params:
        files=lambda w, output: ",".join(output),
        experiments=lambda w: ",".join(
            PLAN.entry(w.paper, "figures", w.figure)["experiments"]
        ),
        code=lambda w: PLAN.figure_code(w.paper, w.figure),
        title=lambda w: PLAN.entry(w.paper, "figures", w.figure)["title"],
        caption=lambda w: PLAN.entry(w.paper, "figures", w.figure)["caption"],
    message:
        "Drawing {wildcards.paper} {wildcards.figure}"
    shell:
        "python workflow/scripts/draw_figure.py log={log:q} output={params.files:q}"
        " paper={wildcards.paper:q} figure={wildcards.figure:q} experiments={params.experiments:q}"


# At scales whose figures have none, a PDF is asked for by its name: results/quick/figures/fedsplit/fig1.pdf.
if "pdf" not in PLAN.kinds:

    use rule figure as figure_pdf with:
        output:
            f"{RESULTS}/figures/{{paper}}/{{figure}}.pdf",
        log:
            f"{RESULTS}/logs/figures/{{paper}}/{{figure}}_pdf.log",
