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

For data of one's own, without the pipeline: `fedrepro.Clients.from_arrays(X, y)` and `fedrepro.run("fedsplit", clients)`;
`fedrepro.StreamedClients` where they are beyond memory.
"""

import importlib

__all__ = ["Clients", "StreamedClients", "run"]


def __getattr__(name: str):
    """Loaded when asked for: the command line starts without NumPy."""
    home = {
        "Clients": "fedrepro.federation.clients",
        "StreamedClients": "fedrepro.federation.streamed",
        "run": "fedrepro.experiments.alone",
    }
    if name not in home:
        raise AttributeError(f"module 'fedrepro' has no attribute '{name}'")
    return getattr(importlib.import_module(home[name]), name)
