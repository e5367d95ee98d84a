"""Drawing what the papers registered: a figure is a short function `fig1(results) -> Figure` made of panels.

`draw` puts on what no figure may forget: the mark of a reduced scale and of data that are not the paper's.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib.figure import Figure

from fedrepro.datasets.files import written
from fedrepro.experiments import registry
from fedrepro.experiments.results import Results
from fedrepro.reporting import panels, style

FORMATS = {  # how each is saved: without dates, so that equal results give equal files
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None, "ModDate": None}},
    "png": {"dpi": 160},
}
MARKS = {"relative": "relative of the paper's data", "standin": "STAND-IN DATA"}


def draw(paper: str, figure: str, results: Results, experiments: list[str]) -> Figure:
    results = results.declared(experiments)
    with style.applied():
        drawn = registry.figure.get(paper, figure)(results)
        style.plain_powers(drawn)
        mark(drawn, results, experiments)
    return drawn


def mark(drawn: Figure, results: Results, experiments: list[str]) -> None:
    """Say on the figure itself what it is not."""
    words = [] if results.scale == "paper" else [f"scale: {results.scale}, not the paper's sizes"]
    origins = results.origins(*experiments)
    for kind, called in MARKS.items():
        if titles := sorted(title for title, origin in origins.items() if origin == kind):
            words.append(f"{called}: {'; '.join(titles)}")
    if words:
        panels.room_below(drawn)
        drawn.text(0.995, 0.005, " · ".join(words), ha="right", va="bottom", fontsize=7, color=style.WARNING)


def save(drawn: Figure, *paths: Path) -> None:
    """Write the figure into files of the formats that they are named after."""
    with style.applied():
        panels.settle(drawn)
        # From here on without a layout engine: as long as there is one, Matplotlib draws everything once more, unseen, before
        # every file.
        with matplotlib.rc_context({"figure.constrained_layout.use": False}):
            drawn.set_layout_engine(None)
            for path in paths:
                with written(path) as temporary:
                    drawn.savefig(temporary, **FORMATS[path.suffix[1:]])
