"""A small picture of a claim's evidence: the paper's value, ours by reading and seed, and where the verdict would turn.

Drawn as plain SVG, a few kilobytes each, so that a page can carry all of them. Text takes the page's own colour.
"""

import math
from html import escape

from fedrepro.reporting.evidence import REAL, STANDIN, Row
from fedrepro.reporting.verdicts import Part, Verdict, number

HOLDS, FAILS, OPEN, PAPER = "#0072B2", "#D55E00", "#7F7F7F", "#009E73"  # Okabe & Ito 2008
WIDTH, LEFT, RIGHT, LINE, HEAD, FOOT = 560, 190, 14, 13, 18, 20
MOST = 12  # readings drawn one by one; beyond, those with the same outcome share a line


def strip(verdict: Verdict, entry: dict) -> str:
    """The SVG of one claim."""
    bands, top = [], 0
    for part in verdict.parts:
        body, height = band(part, entry["judged"][part.name], top)
        bands.append(body)
        top += height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" '
        f'font-family="sans-serif" font-size="10" fill="currentColor" role="img">{"".join(bands)}</svg>\n'
    )


class Axis:
    """Values to places, logarithmic where they span decades; what is infinite stands at the edge."""

    def __init__(self, values: list[float]):
        finite = [v for v in values if math.isfinite(v)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        self.log = low > 0 and high / low > 50
        ends = [math.log10(v) for v in (low, high)] if self.log else [low, high]
        pad = 0.06 * (ends[1] - ends[0]) or (0.1 * abs(ends[1]) or 1.0)
        self.low, self.high = ends[0] - pad, ends[1] + pad

    def at(self, value: float) -> float:
        if math.isinf(value):
            share = 1.0 if value > 0 else 0.0
        else:
            place = math.log10(value) if self.log and value > 0 else self.low if self.log else value
            share = min(1.0, max(0.0, (place - self.low) / (self.high - self.low)))
        return LEFT + share * (WIDTH - LEFT - RIGHT)


def band(part: Part, judged: dict, top: float) -> tuple[str, float]:
    """One part of a claim: its quantity, a line of dots for each reading, thresholds, the paper's value."""
    rows = [row for row in part.rows if not math.isnan(row.value)]
    turns = sorted({end for meaning in part.relation.means or (None,)
                    for end in part.relation.interval(meaning)[:2] if math.isfinite(end)})  # fmt: skip
    said = judged.get("paper")
    marks = turns + ([said] if said is not None else [])
    axis = Axis([row.value for row in rows] + marks)
    lines = grouped(rows)
    height = HEAD + LINE * max(1, len(lines)) + FOOT
    base = top + HEAD + LINE * max(1, len(lines))
    out = [text(4, top + 11, part.quantity, size=10, weight="bold")]
    for end in turns:
        x = axis.at(end)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top + HEAD - 4}" y2="{base}" stroke="{OPEN}" '
                   f'stroke-dasharray="2 2"/>')  # fmt: skip
    out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}" stroke="{OPEN}"/>')
    for i, (name, own) in enumerate(lines):
        y = top + HEAD + LINE * (i + 0.5)
        out.append(text(LEFT - 6, y + 3, shortened(name), anchor="end", title=name))
        out += dots(part, own, axis, y)
    if not rows:
        out.append(text(LEFT, top + HEAD + 9, "nothing was measured"))
    if said is not None:
        x = axis.at(said)
        out.append(
            f'<path d="M{x:.1f} {base} l4 6 h-8 z" fill="{PAPER}"><title>the paper: {number(said)}</title></path>'
        )
    shown = sorted(
        {axis.at(v): v for v in [*turns, *([said] if said is not None else []), *ends(rows)]}.items()
    )
    last = -100.0
    for x, value in shown:
        if x - last > 44:
            out.append(text(x, base + 15, number(value), anchor="middle"))
            last = x
    return "".join(out), height


def ends(rows: list[Row]) -> list[float]:
    values = [row.value for row in rows if math.isfinite(row.value)]
    return [min(values), max(values)] if values else []


def grouped(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """Readings one by one, or, where there are many, by the values of the choice that has the fewest."""
    choices = sorted({k for row in rows for k in row.reading})
    varied = [c for c in choices if len({row.reading.get(c) for row in rows}) > 1]
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(", ".join(said(c, row.reading[c]) for c in varied if c in row.reading), []).append(
            row
        )
    if len(found) <= MOST:
        return list(found.items())
    counts = {c: len({row.reading.get(c) for row in rows}) for c in choices}
    chosen = min((c for c in choices if 1 < counts[c] <= MOST), key=lambda c: counts[c], default=None)
    merged: dict[str, list[Row]] = {}
    for row in rows:
        merged.setdefault(
            "all readings" if chosen is None else said(chosen, row.reading.get(chosen, "-")), []
        ).append(row)
    return list(merged.items())


def said(choice: str, value: str) -> str:
    """A number needs its name beside it; a word speaks for itself."""
    return value if any(letter.isalpha() for letter in value) and len(value) > 2 else f"{choice} {value}"


def dots(part: Part, rows: list[Row], axis: Axis, y: float) -> list[str]:
    """The values of one line, by how they look. Those on the same pixel are one dot, which says how many they are."""
    places: dict[str, dict[int, list[str]]] = {}
    for row in rows:
        words = f"{row.censored} {number(row.value)}".strip() + f", seed {row.seed}, {row.origin}"
        places.setdefault(look(part, row), {}).setdefault(round(axis.at(row.value)), []).append(words)
    out = []
    for name, found in places.items():
        circles = [
            f'<circle cx="{x}" cy="{y:.1f}" r="3"><title>{escape(words[0])}'
            + (f"; {len(words) - 1} more" if words[1:] else "")
            + "</title></circle>"
            for x, words in found.items()
        ]
        out.append(f"<g {name}>{''.join(circles)}</g>")
    return out


def look(part: Part, row: Row) -> str:
    held = [part.relation.holds(row, meaning) for meaning in part.relation.means or (None,)]
    decided = [h for h in held if h is not None]
    colour = OPEN if not decided or row.kind == STANDIN else HOLDS if all(decided) else FAILS
    soft = decided and any(decided) and not all(decided)  # holds under some meanings of the word only
    inside = "none" if row.kind != REAL else colour
    return f'fill="{inside}" stroke="{colour}" fill-opacity="{0.35 if soft else 0.75}"'


def text(x, y, words: str, *, anchor="start", size=9, weight="normal", title="") -> str:
    hint = f"<title>{escape(title)}</title>" if title and title != words else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}">'
        f"{escape(words)}{hint}</text>"
    )


def shortened(words: str, most: int = 36) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
