"""Replication of five federated-optimisation papers, in rooms. Imports point one way:

    maths <- federation <- algorithms <- experiments <- reporting <- papers <- pipeline <- cli

and datasets stands beside maths. A line of code finds its room by three questions: is it mathematics, federation or
bookkeeping; do several papers use it, or one; does it solve, or read what was solved?

    maths         losses, proxes, mirrors, costs, optima, compiled kernels: no clients, no files
    federation    the kinds of clients, their oracles, and one ledger of what is sent and computed
    algorithms    one file per algorithm, reading like the paper's box; parts/ for what several share
    datasets      one module per dataset; transport/ brings the bytes, readers/ knows the formats
    experiments   experiments, blocks, references and traces as records; the runner, tuning, results
    reporting     verdicts, panels, tables, the page: knows no paper by name
    papers        a folder per paper: its problems, theory, readings, claims, figures
    pipeline      what Snakemake asks: configuration, files of every target, hashes of code
"""
