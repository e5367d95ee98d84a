"""Execute a notebook against one scale's results; keep it, and a page that needs no network to be read."""

import base64
import io
import json
import re
from html import escape
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from fedrepro.datasets.files import written
from fedrepro.experiments.results import KEYS, Results
from fedrepro.reporting import panels, style
from fedrepro.reporting.matrix import look
from fedrepro.reporting.names import called

# Notebooks show words of the configuration and of the data in styled tables, which pandas takes for HTML otherwise.
pd.options.styler.format.escape = "html"

TABLE = re.compile(r"\bT_[0-9a-f]{5}(?![0-9a-f])")  # pandas names a styled table at random
WIDEST, COLOURS = 1000, 96  # pixels and colours of a picture in a published notebook
ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # `<Styler at 0x7f635d7222d0>`
FORMULA = re.compile(
    r"```.*?```|`[^`]*`|\$\$(?P<display>[^$]+)\$\$|(?<!\\)\$(?P<formula>[^$\n]+?)\$", re.DOTALL
)


def verdicts(results: Results, paper: str, *claims: str) -> str:
    """A paper's claims as HTML for a notebook: statement, verdict, and the rest on demand. Those that are named come with their
    strips."""
    rows = []
    for claim in results.claims(paper).to_dict("records"):
        if claims and claim["id"] not in claims:
            continue
        words = {k: escape(str(v)) for k, v in claim.items()}
        colour, sign, relative = look(claim["verdict"])
        edge = f"border-left:6px {'dashed' if relative else 'solid'} {colour};padding-left:6px"
        turns = f"<br><small>turns on: {words['turns_on']}</small>" if claim["turns_on"] else ""
        rows.append(
            f"<tr><td style='text-align:left;vertical-align:top;width:30%'><b>{words['id']}</b> {words['statement']}"
            f"<br><small>the paper: {words['paper_value']}</small></td>"
            f"<td style='text-align:left'>{results.strip(paper, claim['id']) if claims else ''}"
            f"<details><summary>in words</summary>{words['why']}</details></td>"
            f"<td style='text-align:left;vertical-align:top'><b style='{edge}'>{sign} {words['verdict']}</b>{turns}</td></tr>"
        )
    return f"<table>{''.join(rows)}</table>"


def unplanned(results: Results, paper: str) -> pd.DataFrame:
    """Every cell of a paper that ended other than as planned, counted over seeds."""
    declared = sorted(p.name for p in (results.folder / KEYS / "traces").glob(f"{paper}_*"))
    ends = results.ends(*declared)
    by = ["experiment", "algorithm", "params", "setting", "status"]
    return ends[ends.status != "done"].groupby(by).size().rename("seeds").reset_index()


MOST_CURVES = 10


def redrawn(results: Results, experiment: str, x: str = "round", y: str = "", only: str = "", log: str = "y"):
    """An experiment's traces drawn anew: any column over any other, for the algorithms, parameters and settings whose
    description has the word `only`, with `log` axes. Where there are many curves, those that end lowest."""
    rows = results.traces(experiment)
    rows = rows.assign(floats=rows["floats_down"] + rows["floats_up"])
    numeric = [c for c in rows.columns if pd.api.types.is_numeric_dtype(rows[c]) and c != "seed"]
    y = y or numeric[numeric.index("round") + 1]  # the first measure
    for name in (x, y):
        if name not in numeric:
            raise ValueError(f"{experiment} has no column {name} to draw; it has {', '.join(numeric)}")
    curves = []
    for named, cells in rows.groupby(["algorithm", "params", "setting"], sort=False):
        label = " ".join(filter(None, (called(named[0]), *named[1:])))
        if only in label:
            curves.append((cells.groupby("seed")[y].last().median(), label, cells))
    if not curves:
        raise ValueError(f"no curve of {experiment} has '{only}' in its description")
    curves.sort(key=lambda one: one[0])
    with style.applied():
        figure, ((ax,),) = panels.grid()
        figure.set_size_inches(7, 4)
        for k, (_, label, cells) in enumerate(curves[:MOST_CURVES]):
            panels.curve(ax, cells, y, x=x, label=label, dash=style.DASHES[k % len(style.DASHES)])
        ax.set(xlabel=x, ylabel=y, title=experiment)
        ax.set_xscale("log" if "x" in log else "linear")
        ax.set_yscale("log" if "y" in log else "linear")
        ax.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))
        plt.close(figure)  # the cell shows what it returns; what is open at its end would be shown once more
    return figure


def execute(source: Path, target: Path, page: Path, results: Path) -> None:
    import nbformat
    import papermill
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
    with written(page) as temporary:
        temporary.write_text(exported(notebook))


def without_chance(notebook):
    """Without what differs between two executions over the same results: times, addresses in memory, warnings, which name
    this machine's folders, and the names drawn at random for the cell of parameters and for styled tables."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
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


def lightened(notebook: str) -> str:
    """An executed notebook with smaller pictures of few colours, chosen so that none is far from what it was: thin lines of like
    colours stay apart. A fifth of the bytes."""
    from PIL import Image

    whole = json.loads(notebook)
    for cell in whole["cells"]:
        for output in cell.get("outputs", ()):
            if picture := output.get("data", {}).get("image/png"):
                drawn = Image.open(io.BytesIO(base64.b64decode("".join(picture)))).convert("RGBA")
                white = Image.alpha_composite(Image.new("RGBA", drawn.size, "white"), drawn).convert("RGB")
                white.thumbnail((WIDEST, 4 * WIDEST))
                few = white.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
                buffer = io.BytesIO()
                few.save(buffer, "png", optimize=True)
                output["data"]["image/png"] = base64.b64encode(buffer.getvalue()).decode()
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def exported(notebook) -> str:
    """A notebook as one page that asks for nothing: no script, formulas as pictures, code folded where its cell is tagged
    `hide-input`."""
    import jinja2

    here = Path(__file__).parent
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(here), autoescape=True, trim_blocks=True)
    cells = [entry(cell) for cell in notebook.cells if "remove-cell" not in cell.metadata.get("tags", ())]
    words = "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    title = re.search(r"^# (.*)$", words, re.MULTILINE)
    return environment.get_template("notebooks.html").render(
        css=(here / "base.css").read_text(), title=title[1] if title else "A notebook", cells=cells
    )


def entry(cell) -> dict:
    if cell.cell_type != "code":
        return {"prose": prose(cell.source) if cell.cell_type == "markdown" else ""}
    tags = set(cell.metadata.get("tags", ()))
    return {
        "code": cell.source,
        "folded": bool(tags & {"hide-input", "parameters", "injected-parameters"}),
        "outputs": [shown(output) for output in cell.outputs],
    }


def shown(output) -> str:
    """One output as HTML: a table or picture as it is, everything else as plain text."""
    found = output.get("data", {})
    for kind in ("text/html", "image/svg+xml"):
        if kind in found:
            return f'<div class="table">{found[kind]}</div>'
    if "text/markdown" in found:
        return prose(found["text/markdown"])
    if "image/png" in found:
        width = output.metadata.get("image/png", {}).get("width")
        size = f' width="{width}"' if width else ""
        return f'<img class="picture" alt=""{size} src="data:image/png;base64,{found["image/png"].strip()}">'
    text = output.get("text") or found.get("text/plain") or "\n".join(output.get("traceback", ()))
    return f"<pre>{escape(text)}</pre>"


def prose(markdown: str) -> str:
    """Markdown as HTML, its formulas, between dollars, as pictures."""
    from nbconvert.filters import markdown2html

    formulas: list[str] = []

    def keep(found: re.Match) -> str:
        tex = found["formula"] or found["display"]
        if tex is None:
            return found[0]  # code
        formulas.append(formula(tex.strip()))
        return f"\x02{len(formulas) - 1}\x03"

    words = markdown2html(FORMULA.sub(keep, markdown))
    words = re.sub(r'<a class="anchor-link".*?</a>', "", words)
    return re.sub(r"\x02(\d+)\x03", lambda m: formulas[int(m[1])], words)


def formula(tex: str) -> str:
    """A formula as SVG in the text's colour, or as it is written where Matplotlib cannot set it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    size = 16.0
    try:
        drawn = TextPath((0, 0), f"${tex}$", size=size, prop=FontProperties())
    except ValueError:
        return f"<code>{escape(tex)}</code>"
    box = drawn.get_extents()
    x, y, width, height = box.x0 - 0.5, -box.y1 - 0.5, box.width + 1, box.height + 1
    signs = {1: "M", 2: "L", 3: "Q", 4: "C"}
    d = "".join(
        "z"
        if code == 79
        else signs[code] + " ".join(f"{v:.1f}" for v in (points.reshape(-1, 2) * [1, -1]).ravel())
        for points, code in drawn.iter_segments(simplify=False)
    )
    return (
        f'<svg class="formula" role="img" aria-label="{escape(tex)}" viewBox="{x:.1f} {y:.1f} {width:.1f} {height:.1f}" '
        f'style="height:{height / size:.2f}em;vertical-align:{-(y + height) / size:.2f}em" fill="currentColor"><path d="{d}"/></svg>'
    )
