"""Figures for a page: SVG as Matplotlib wrote it, made small enough that a page can hold all of them.

Lines keep the points a screen can show, each told by its distance from the one before, and numbers the digits it can.
Glyphs, markers and clips, which Matplotlib names by their content, words and styles are defined once for all figures that
use them.
"""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from html import escape

import numpy as np

from fedrepro.reporting.thinning import kept

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
TOLERANCE = 0.3  # of a point, 1/72 inch
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
PIECES = {"M": 1, "L": 1, "Q": 2, "C": 3}  # points of a piece of a path
PART = re.compile(r"([MLQC])((?:\s+-?[\d.]+(?:e-?\d+)?)+)\s*|(z)\s*")
POLYLINE = re.compile(r"M [-\d.e]+ [-\d.e]+\s+(?:L [-\d.e]+ [-\d.e]+\s*)+z?\s*")
LOOK = "stroke-linejoin:round;stroke-linecap:butt"  # what Matplotlib asks of every element, in a style for the whole page
WORD = re.compile(r"(?:<use [^>]*/>){2,}")  # glyph by glyph
ALIKE = re.compile(
    r'<path d="[^"]*"(?P<same>(?: clip-path="[^"]*")? class="(?P<look>[^"]*)"/>)(?:<path d="[^"]*"(?P=same))+'
)
DRAWN = ("path", "use", "image", "text", "rect", "circle", "line")


@dataclass
class Definitions:
    """Glyphs, markers, clips, hatches, words and styles by short name, each once."""

    names: dict[tuple[str, str], str] = field(default_factory=dict)  # (id, content) -> short name
    looks: dict[str, str] = field(default_factory=dict)  # style -> the name of its class
    prefix: str = "d"

    def name(self, identity: str, content: str) -> str:
        return self.names.setdefault((identity, content), f"{self.prefix}{len(self.names):x}")

    def look(self, style: str) -> str:
        return self.looks.setdefault(style, f"{self.prefix}-{len(self.looks):x}")

    def svg(self) -> str:
        """All of them, for the top of a page or of one figure."""
        rules = "".join(f".{name}{{{style}}}" for style, name in self.looks.items())
        return f"<style>{rules}</style>" + "".join(
            content.replace("\0", name) for (_, content), name in self.names.items()
        )


def drawn(svg: str, definitions: Definitions, title: str = "") -> str:
    """A figure as SVG that finds its definitions elsewhere in the document."""
    (width, _), box, body = parts(svg, definitions)
    words = f"<title>{escape(title)}</title>" if title else ""
    return f'<svg class="drawn" viewBox="{box}" style="width:{width:.0f}px" role="img">{words}{body}</svg>'


def alone(svg: str, title: str = "") -> str:
    """The same as a file of its own."""
    definitions = Definitions()
    (width, height), box, body = parts(svg, definitions)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{width:.0f}" height="{height:.0f}" role="img">'
        f"<title>{escape(title)}</title><style>*{{{LOOK}}}</style><defs>{definitions.svg()}</defs>{body}</svg>\n"
    )


def parts(svg: str, definitions: Definitions) -> tuple[tuple[float, float], str, str]:
    """A figure's size in pixels, its box and what is drawn in it; what it defines goes to the definitions."""
    root = ET.fromstring(svg)
    found: dict[str, str] = {}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{SVG}defs":
                for one in child:
                    if one.tag != f"{SVG}style":
                        identity = one.attrib.pop("id")
                        found[identity] = definitions.name(
                            identity, element(one, {}, definitions, ' id="\0"')
                        )
                parent.remove(child)
            elif child.tag == f"{SVG}metadata":
                parent.remove(child)
    box = root.get("viewBox").split()
    body = "".join(element(child, found, definitions) for child in root)
    return (float(box[2]) * 4 / 3, float(box[3]) * 4 / 3), " ".join(map(brief, box)), body


def element(node: ET.Element, found: dict[str, str], definitions: Definitions, more: str = "") -> str:
    """One element and all in it, in few characters."""
    tag = node.tag.removeprefix(SVG)
    words = [more] if more else []
    for key, value in node.attrib.items():
        name = key.removeprefix(XLINK)
        if name == "id":
            continue  # Matplotlib's names of groups: nobody refers to them
        if name == "href" and value.startswith("#"):
            value = f"#{found[value[1:]]}"
        elif name == "href":
            value = re.sub(r"\s+", "", value)  # a picture's bytes
        elif name == "d":
            value = path(value)
        elif name in ("clip-path", "style", "mask") and "url(#" in value:
            value = re.sub(r"url\(#([^)]*)\)", lambda m: f"url(#{found[m[1]]})", value)
        if name == "style":
            value = value.replace(": ", ":").replace("; ", ";")
            if "url(" not in value:
                name, value = "class", definitions.look(NUMBER.sub(lambda m: brief(m[0]), value))
        if name == "transform" and (moved := re.fullmatch(r"translate\((\S+) 0\)", value)) and tag == "use":
            name, value = "x", moved[1]
        if name not in ("href", "d", "class"):
            value = NUMBER.sub(lambda m: brief(m[0]), value)
        words.append(f' {name}="{escape(value)}"')
    inside = ALIKE.sub(
        lambda m: together(m, definitions), "".join(element(child, found, definitions) for child in node)
    )
    if tag == "g" and WORD.fullmatch(inside):
        name = definitions.name("", f'<g id="\0">{inside}</g>')
        return f"""<use href="#{name}"{"".join(words)}/>"""
    text = escape(node.text.strip()) if node.text and node.text.strip() else ""
    if not inside and not text:
        return f"<{tag}{''.join(words)}/>" if tag in DRAWN else ""
    if tag == "g" and not words:
        return inside
    return f"<{tag}{''.join(words)}>{text}{inside}</{tag}>"


def together(paths: re.Match, definitions: Definitions) -> str:
    """Lines of one look, one after the other, as one path. Only where they cross, and let what is behind through, can one tell."""
    look = next(style for style, name in definitions.looks.items() if name == paths["look"])
    if "fill:none" not in look:
        return paths[0]
    drawn = re.findall(r' d="[mM]([^"]*)"', paths[0])
    return f'<path d="M{"M".join(drawn)}"{paths["same"]}'


def path(d: str) -> str:
    """A path with the points that can be seen, to a tenth of a point; curves and glyphs keep all of theirs."""
    lines, parts = POLYLINE.findall(d), list(PART.finditer(d))
    if "".join(lines).strip() == d.strip():
        return "".join(polyline(line) for line in lines)
    if parts and "".join(part[0] for part in parts) == d:
        return curved(parts)
    return re.sub(r"\s+", " ", NUMBER.sub(lambda m: brief(m[0]), d)).strip()


def curved(parts: list[re.Match]) -> str:
    """A path of curves, each told by its distance from where the last one ended."""
    numbers = [np.array(part[2].split(), float) for part in parts if part[1]]
    largest = max(np.abs(values).max() for values in numbers)
    digits = next(n for n, edge in enumerate((1000.0, 20.0, 1.0, 0.0)) if largest >= edge)
    at, begin, words = np.zeros(2, int), np.zeros(2, int), []
    for part in parts:
        if part[3]:
            words.append("z")
            at = begin
            continue
        points = np.round(np.array(part[2].split(), float) * 10**digits).astype(int)
        for piece in points.reshape(-1, PIECES[part[1]], 2):
            steps = " ".join(f"{step:g}" for step in ((piece - at) / 10**digits).ravel())
            words.append(f"{part[1].lower()}{steps}".replace(" -", "-"))
            at = piece[-1]
        begin = at if part[1] == "M" else begin
    return "".join(words)


def polyline(line: str) -> str:
    points = np.array(re.findall(r"[-\d.e]+ [-\d.e]+", line.replace("z", "")), dtype=object)
    places = np.array([p.split() for p in points], float)
    if len(places) > 3:
        places = places[kept(places[:, 0], places[:, 1], TOLERANCE)]
    digits = 1 if np.abs(places).max() >= 20.0 else 2  # a marker's own shape is small
    steps = np.diff(np.round(places * 10**digits).astype(int), axis=0, prepend=0) / 10**digits
    first, *others = (f"{x:g} {y:g}".replace(" -", "-") for x, y in steps)
    return f"M{first}l" + " ".join(others).replace(" -", "-") + ("z" if "z" in line else "")


def brief(number: str | float) -> str:
    """To two digits after the point where it is small, to one where it is large."""
    value = float(number)
    if abs(value) < 0.1:
        return f"{value:.4g}" if "e" not in f"{value:.4g}" else "0"
    short = f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return short.rstrip("0").rstrip(".")
