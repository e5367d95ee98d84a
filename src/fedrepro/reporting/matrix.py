"""All claims by paper as a picture of coloured cells, for whoever sees the results before reading them."""

from collections import Counter
from html import escape

from fedrepro.experiments.experiment import Paper
from fedrepro.reporting.names import called
from fedrepro.reporting.verdicts import DEPENDS, FAILED, ON_RELATIVE, REPRODUCED, UNTESTED, VERDICTS

MARKS = {REPRODUCED: "✓", DEPENDS: "±", FAILED: "✗", UNTESTED: "·"}  # for those who do not see the colours
COLOURS = {
    REPRODUCED: "#009E73",
    DEPENDS: "#E69F00",
    FAILED: "#D55E00",
    UNTESTED: "#9A9A9A",
}  # Okabe & Ito 2008
WIDTH, CELL, LINE, LEFT, ACROSS = 880, 34, 30, 240, 17  # of the picture; cells in a row of it
PLAIN = {relative: plain for plain, relative in ON_RELATIVE.items()}


def short(paper: Paper) -> str:
    """What a paper is called in passing."""
    title, colon, _ = paper.raw["title"].partition(":")
    return title if colon or len(title) < 36 else called(paper.name)


def look(verdict: str) -> tuple[str, str, bool]:
    """Colour, mark, and whether it was measured on a relative of the data."""
    plain = PLAIN.get(verdict, verdict)
    return COLOURS[plain], MARKS[plain], verdict in PLAIN


def shade(verdict: str) -> str:
    """Its class in a page: `not-reproduced`, `depends relative`."""
    plain = PLAIN.get(verdict, verdict)
    return plain.replace(" ", "-") + (" relative" if verdict in PLAIN else "")


def mark(verdict: str) -> str:
    return look(verdict)[1]


def totals(claims: list[dict]) -> list[tuple[str, int]]:
    counts = Counter(claim["verdict"] for claim in claims)
    return [(verdict, counts[verdict]) for verdict in VERDICTS if counts[verdict]]


def picture(papers: list[Paper], claims: list[dict], scale: str) -> str:
    """The matrix as SVG, by itself: for the README, and for who has one look."""
    body, y = [], 8
    for paper in papers:
        own = [c for c in claims if c["paper"] == paper.name]
        body.append(
            f'<text x="{LEFT - 10}" y="{y + 18}" text-anchor="end" font-weight="bold">{escape(short(paper))}</text>'
        )
        for i, claim in enumerate(own):
            body.append(cell(claim, LEFT + (i % ACROSS) * (CELL + 2), y + (i // ACROSS) * LINE))
        y += LINE * max(1, -(-len(own) // ACROSS)) + 6
    x, y = LEFT, y + 8
    for verdict, count in totals(claims):
        words = f"{count} {verdict}"
        if x + 30 + 7 * len(words) > WIDTH:
            x, y = LEFT, y + 24
        colour, _, relative = look(verdict)
        body.append(
            swatch(x, y, 18, 18, colour, relative) + f'<text x="{x + 25}" y="{y + 14}">{escape(words)}</text>'
        )
        x += 40 + 7 * len(words)
    y += 34
    if scale != "paper":
        body.append(
            f'<text x="{LEFT}" y="{y}" fill="#B22222">scale {escape(scale)}: smaller problems than the papers\'</text>'
        )
        y += 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" font-family="sans-serif" '
        f'font-size="13" role="img"><title>Every claim by paper, coloured by verdict</title>'
        f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/><g fill="#1b1b1b">{"".join(body)}</g></svg>\n'
    )


def cell(claim: dict, x: float, y: float) -> str:
    colour, sign, relative = look(claim["verdict"])
    hint = f"{claim['id']}: {claim['verdict']}. {claim['statement']}"
    return (
        f"<g><title>{escape(hint)}</title>{swatch(x, y, CELL, LINE - 4, colour, relative)}"
        f'<text x="{x + CELL / 2}" y="{y + 17}" text-anchor="middle" font-size="10">{escape(claim["id"])}{sign}</text></g>'
    )


def swatch(x: float, y: float, width: float, height: float, colour: str, relative: bool) -> str:
    """Filled, or dashed where a relative of the data was measured."""
    inside = 'fill-opacity=".18" stroke-dasharray="3 2"' if relative else 'fill-opacity=".55"'
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="{colour}" stroke="{colour}" stroke-width="1.5" {inside}/>'
