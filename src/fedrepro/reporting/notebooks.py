"""Execute a notebook against one scale's results; keep it, and a page that needs no network to be read."""

import re
from html import escape
from pathlib import Path

import pandas as pd

from fedrepro.datasets.files import written
from fedrepro.experiments.results import Results

# Notebooks show words of the configuration and of the data in styled tables, which pandas takes for HTML otherwise.
pd.options.styler.format.escape = "html"

TABLE = re.compile(r"\bT_[0-9a-f]{5}(?![0-9a-f])")  # pandas names a styled table at random
ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # `<Styler at 0x7f635d7222d0>`
COLOURS = {
    "reproduced": "#009E73",
    "depends": "#E69F00",
    "not reproduced": "#D55E00",
    "not tested": "#7F7F7F",
}


def verdicts(results: Results, paper: str, *claims: str) -> str:
    """A paper's claims (or some of them) as HTML for a notebook: statement, strip, verdict, and the rest on demand."""
    rows = []
    for claim in results.claims(paper).to_dict("records"):
        if claims and claim["id"] not in claims:
            continue
        words = {k: escape(str(v)) for k, v in claim.items()}
        colour = COLOURS.get(claim["verdict"], "#56B4E9")
        turns = f"<br><small>turns on: {words['turns_on']}</small>" if claim["turns_on"] else ""
        rows.append(
            f"<tr><td style='text-align:left;vertical-align:top;width:30%'><b>{words['id']}</b> {words['statement']}"
            f"<br><small>the paper: {words['paper_value']}</small></td>"
            f"<td style='text-align:left'>{results.strip(paper, claim['id'])}"
            f"<details><summary>in words</summary>{words['why']}</details></td>"
            f"<td style='text-align:left;vertical-align:top'><b style='color:{colour}'>{words['verdict']}</b>{turns}</td></tr>"
        )
    return f"<table>{''.join(rows)}</table>"


def execute(source: Path, target: Path, page: Path, results: Path) -> None:
    import nbformat
    import papermill
    from nbconvert import HTMLExporter
    from papermill.exceptions import PapermillExecutionError

    with written(target) as temporary:
        try:
            notebook = papermill.execute_notebook(
                str(source),
                str(temporary),
                parameters={"results": str(results)},
                progress_bar=False,
                log_output=False,
                extra_arguments=["--log-level=ERROR"],  # a kernel warns of its local port every time
            )
        except PapermillExecutionError as error:  # its own message is the whole of the cell's traceback
            raise RuntimeError(f"{source}, cell {error.exec_count}: {error.ename}: {error.evalue}") from error
        nbformat.write(without_chance(notebook), temporary)
    exporter = HTMLExporter(mathjax_url="", require_js_url="", jquery_url="", embed_images=True)
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": source.stem}})
    with written(page) as temporary:
        temporary.write_text(without_remote_scripts(html))


def without_chance(notebook):
    """Without what differs between two executions over the same results: times, addresses in memory, and the names drawn
    at random for the cell of parameters and for styled tables."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        for kind in ("execution", "papermill"):
            cell.metadata.pop(kind, None)
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.id = "injected-parameters"
    names: dict[str, str] = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            for kind in ("text/html", "text/plain"):
                if text := output.get("data", {}).get(kind):
                    text = TABLE.sub(lambda m: names.setdefault(m[0], f"T_{len(names) + 1}"), text)
                    output.data[kind] = ADDRESS.sub("", text)
    return notebook


def without_remote_scripts(html: str) -> str:
    """Drop whatever nbconvert's template would load when the page is opened (MathJax, require.js, mermaid)."""
    html = re.sub(r"<script[^>]*\bsrc=\"[^\"]*\"[^>]*>\s*</script>", "", html)
    html = re.sub(r"<script type=\"module\">.*?</script>", "", html, flags=re.S)
    return re.sub(r"<!-- Load mathjax -->.*?<!-- End of mathjax configuration -->", "", html, flags=re.S)
