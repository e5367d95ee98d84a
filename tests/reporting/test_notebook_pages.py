"""Exported notebooks: code folded where it is tagged, formulas without a network, nothing executable."""

import base64
import io
import json
import re

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from PIL import Image

from fedrepro.pipeline.config import ROOT
from fedrepro.reporting import style
from fedrepro.reporting.notebooks import exported, formula, lightened, prose, without_chance


def png(size=(200, 100)) -> str:
    picture = Image.effect_noise(size, 80).convert("RGB")
    buffer = io.BytesIO()
    picture.save(buffer, "png")
    return base64.b64encode(buffer.getvalue()).decode()


@pytest.fixture
def notebook():
    made = nbformat.v4.new_notebook()
    code, output = nbformat.v4.new_code_cell, nbformat.v4.new_output
    made.cells = [
        nbformat.v4.new_markdown_cell("# A & B\n\nThe rate is $\\frac{1}{\\sqrt{\\kappa}}$, in code `$x$`.\n\n$$x^2 + 1$$"),
        code("folded = 1", metadata={"tags": ["hide-input"]}, outputs=[output("stream", text="<said>")]),
        code("open_code = 2", outputs=[output("display_data", data={"text/html": "<table><tr><td>7</td></tr></table>"})]),
        code("secret", metadata={"tags": ["remove-cell"]}),
        code("draw()", outputs=[output("display_data", data={"image/png": png()}, metadata={"image/png": {"width": 100}})]),
        code("words()", outputs=[output("display_data", data={"text/markdown": "- **a**\n- b", "text/plain": "object"})]),
    ]  # fmt: skip
    return made


def test_a_page_by_itself(notebook):
    page = exported(notebook)
    assert re.search(r"<details class=\"code\">.*folded = 1.*</details>", page)
    assert re.search(r"<pre class=\"code\"><code>open_code = 2", page)
    assert (
        "secret" not in page
        and "<script" not in page
        and "http" not in re.sub(r'aria-label="[^"]*"', "", page)
    )
    assert "<title>A &amp; B</title>" in page and "&lt;said&gt;" in page and "<td>7</td>" in page
    assert 'width="100" src="data:image/png;base64,' in page
    assert "<strong>a</strong>" in page


def test_formulas_are_pictures_and_code_is_not():
    page = prose("a $\\kappa$ b `$x$` c\n\n$$\\sum_{i=1}^n x_i$$\n\ncosts 3 dollars")
    assert page.count('<svg class="formula"') == 2
    assert 'aria-label="\\kappa"' in page and "<code>$x$</code>" in page
    assert "<code>\\begin{align}x\\end{align}</code>" in formula("\\begin{align}x\\end{align}")


def test_every_formula_of_ours_can_be_drawn():
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        words = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        written = re.sub(r"```.*?```|`[^`]*`", "", words, flags=re.DOTALL)
        wanted = len(re.findall(r"\$\$[^$]+\$\$|\$[^$\n]+\$", written))
        assert prose(words).count('<svg class="formula"') == wanted, path.name


def test_pictures_are_lighter_and_as_large(notebook):
    made = nbformat.writes(notebook)
    light = lightened(made)
    assert len(light) < 0.7 * len(made)
    cell = json.loads(light)["cells"][4]
    assert Image.open(io.BytesIO(base64.b64decode(cell["outputs"][0]["data"]["image/png"]))).size == (
        200,
        100,
    )
    nbformat.validate(nbformat.reads(light, 4))


def test_thin_lines_keep_their_colours_in_lighter_pictures():
    figure, ax = plt.subplots(figsize=(5, 4))
    lines = (style.BLUE, style.GREEN, style.SKY, style.PINK, style.RED, style.ORANGE)
    for i, colour in enumerate(lines):
        ax.plot(np.sin(0.3 * np.arange(60) + i), color=colour, alpha=1, lw=1)
        ax.fill_between(range(60), i, i + np.linspace(0, 1, 60), color=colour, alpha=0.2)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=150)
    plt.close(figure)
    made = nbformat.v4.new_notebook()
    output = nbformat.v4.new_output(
        "display_data", data={"image/png": base64.b64encode(buffer.getvalue()).decode()}
    )
    made.cells = [nbformat.v4.new_code_cell("draw()", outputs=[output])]
    light = json.loads(lightened(nbformat.writes(made)))["cells"][0]["outputs"][0]["data"]["image/png"]
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(light))).convert("RGB"), int).reshape(-1, 3)
    for colour in lines:
        wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
        assert np.abs(shown - wanted).max(axis=1).min() <= 6, colour


def test_our_notebooks_tell_first_and_fold_their_code_and_end_with_a_cell_to_redraw():
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, 4).cells
        assert cells[0].cell_type == "markdown", path
        code = [cell for cell in cells if cell.cell_type == "code"]
        assert all({"hide-input", "parameters"} & set(cell.metadata.get("tags", ())) for cell in code[:-1]), (
            path
        )
        assert "hide-input" not in code[-1].metadata.get("tags", ()) and code[-1] is cells[-1], path


def test_warnings_do_not_travel_with_a_notebook():
    told = [
        nbformat.v4.new_output("stream", name=name, text="/home/me/a.py:1: Warning")
        for name in ("stdout", "stderr")
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=told)])
    (cell,) = without_chance(notebook).cells
    assert [output.name for output in cell.outputs] == ["stdout"]
