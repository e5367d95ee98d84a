"""Figures for a page: smaller, the same to look at, and nothing defined twice."""

import io
import re
import xml.etree.ElementTree as ET

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from fedrepro.reporting import style
from fedrepro.reporting.pictures import Definitions, alone, brief, drawn, path


def figure(words: str, points: int = 3000) -> str:
    with style.applied():
        drawing, (left, right) = plt.subplots(1, 2)
        x = np.linspace(0, 10, points)
        left.plot(x, np.exp(-x) * (2 + np.sin(9 * x)), label=words)
        left.fill_between(x, np.exp(-x), 3 * np.exp(-x), alpha=0.2)
        left.legend()
        right.scatter(x[:40], x[:40] ** 2, marker="s")
        right.imshow(np.eye(4), extent=(0, 1, 0, 1))
        buffer = io.StringIO()
        drawing.savefig(buffer, format="svg", metadata={"Date": None})
        plt.close(drawing)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def two():
    return figure("alpha"), figure("alphabet")


def test_every_definition_is_there_once_and_every_reference_leads_to_one(two):
    definitions = Definitions()
    page = "".join(drawn(svg, definitions) for svg in two)
    shared = definitions.svg()
    ids = re.findall(r' id="(\w+)"', shared)
    assert len(ids) == len(set(ids)) > 10
    used = set(re.findall(r'href="#(\w+)"|url\(#(\w+)\)', page + shared))
    assert {a or b for a, b in used} <= set(ids)
    assert ' id="' not in page
    alone_twice = sum(len(alone(svg)) for svg in two)
    assert len(page) + len(shared) < alone_twice < 0.25 * sum(map(len, two))


def test_a_file_of_its_own_is_whole(two):
    text = alone(two[0], "a & b")
    root = ET.fromstring(text)
    assert root.find("{http://www.w3.org/2000/svg}title").text == "a & b"
    ids = set(re.findall(r' id="(\w+)"', text))
    assert set(re.findall(r'href="#(\w+)"', text)) <= ids
    assert float(root.get("width")) > 100 and "data:image/png;base64," in text


def test_a_line_keeps_its_ends_and_its_peak():
    x = np.linspace(0, 400, 2000)
    y = 100 + 80 * np.exp(-((x - 200) ** 2) / 50)
    text = "M " + "L ".join(f"{a} {b} \n" for a, b in zip(x, y, strict=True))
    points = places(path(text))
    assert 3 < len(points) < 100
    np.testing.assert_allclose(points[[0, -1]], [[0, 100], [400, 100]], atol=0.051)
    assert points[:, 1].max() == pytest.approx(180, abs=0.3)


def places(d: str) -> np.ndarray:
    """The points of a path whose later ones are told by their distance from the one before."""
    numbers = re.findall(r"-?[\d.]+", d.removeprefix("M").replace("l", " "))
    return np.cumsum(np.array(numbers, float).reshape(-1, 2), axis=0)


def test_a_long_line_does_not_drift():
    """Every point is rounded where it is, not the steps between them."""
    rng = np.random.default_rng(0)
    points = np.cumsum(rng.uniform(0.37, 1.0, (800, 2)), axis=0)
    points[::2, 1] += 30  # so that none is left out
    short = path("M " + "L ".join(f"{a} {b} \n" for a, b in points))
    assert short.count("l") == 1 and len(places(short)) == 800
    np.testing.assert_allclose(places(short), points, atol=0.051)


@pytest.mark.parametrize(("scale", "close"), [(4000.0, 0.51), (100.0, 0.051), (5.0, 0.0051), (0.5, 0.00051)])
def test_curves_stay_where_they_are(scale, close):
    """Also after a piece is closed, where the next one is told from its beginning."""
    points = scale * np.random.default_rng(1).uniform(-1, 1, (9, 2))
    a, b, c, d, e, f, g, h, i = (f"{x:.6f} {y:.6f}" for x, y in points)
    short = path(f"M {a} \nC {b} {c} {d} \nL {e} \nz\nM {f} Q {g} {h} L {i} z")
    at = begin = np.zeros(2)
    found = []
    for letter, numbers in re.findall(r"([a-z])([^a-z]*)", short):
        steps = np.array(re.findall(r"-?[\d.]+", numbers), float).reshape(-1, 2)
        found += [at + step for step in steps]
        at = begin if letter == "z" else found[-1]
        begin = at if letter == "m" else begin
    assert len(short) < 120
    np.testing.assert_allclose(found, points, atol=close)


def test_lines_of_one_look_are_one_path():
    def svg(*styles):
        lines = "".join(
            f'<g><path d="M {i} 1 L {i + 2} 5 " style="{style}"/></g>' for i, style in enumerate(styles)
        )
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt" viewBox="0 0 9 9"><g>{lines}</g></svg>'

    line, other, area = "fill: none; stroke: #ff0000", "fill: none; stroke: #00ff00", "fill: #ff0000"
    assert re.findall(r' d="([^"]*)"', alone(svg(line, line, other, other, other))) == [
        "M0 1l2 4M1 1l2 4",
        "M2 1l2 4M3 1l2 4M4 1l2 4",
    ]
    assert alone(svg(area, area)).count("<path") == 2


def test_a_word_and_a_style_are_defined_once(two):
    definitions = Definitions()
    page = "".join(drawn(svg, definitions) for svg in two)
    shared = definitions.svg()
    assert ' style="fill' not in page and len(set(definitions.looks.values())) == len(definitions.looks) > 5
    assert set(re.findall(r' class="(d-[0-9a-f]+)"', page + shared)) == set(definitions.looks.values())
    words = re.findall(r'<g id="(\w+)"><use', shared)
    # the axes of the two figures have the same numbers
    assert max(page.count(f'href="#{word}"') for word in words) >= 4


@pytest.mark.parametrize(
    ("number", "short"), [("123.4567", "123.5"), ("1.2345", "1.23"), ("-0.5000", "-0.5"), ("0.015625", "0.01562"), ("3e-9", "0")]
)  # fmt: skip
def test_numbers_are_brief(number, short):
    assert brief(number) == short


def test_an_axis_of_ratios_has_plain_numbers_and_a_long_one_powers():
    picture, (short, long) = plt.subplots(1, 2)
    short.semilogy([1, 2], [0.2, 4.0])
    long.semilogy([1, 2], [1e-7, 4.0])
    style.plain_powers(picture)
    picture.canvas.draw()
    plt.close(picture)
    labels = [{t.get_text() for t in axes.get_yticklabels(which="both")} for axes in (short, long)]
    assert {"0.6", "1", "2"} <= labels[0] and not any("×" in text for text in labels[0])
    assert {"10⁻⁷", "10⁰"} <= labels[1]
