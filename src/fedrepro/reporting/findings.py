"""The most surprising of what was found, one sentence each, made from evidence.

Four kinds surprise: a bound that a counterexample refutes, a claim that fails on the paper's own data, a claim that hangs on
something the paper leaves open, and a slip in the text that measurably matters. How much is a number of its own kind; papers
and kinds take turns, so that one noisy paper does not fill the list.
"""

import math
from dataclasses import dataclass

from fedrepro.experiments.experiment import Paper
from fedrepro.experiments.results import Results
from fedrepro.reporting import evidence
from fedrepro.reporting.matrix import short
from fedrepro.reporting.verdicts import DEPENDS, FAILED, MEANING, Part, Verdict, decide, number, span

REFUTED, FAILS, HANGS, SLIP = "refuted", "fails", "hangs", "slip"
SPOKEN = {MEANING: "what its words mean", "seed": "the draw"}
MOST_WORDS = 120  # characters of an explanation; a longer one gives way to a share


def judged(papers: list[Paper], results: Results) -> dict[tuple[str, str], Verdict]:
    """The verdicts with their parts, made again from the evidence: the rule is the same, so they are."""
    rows: dict[tuple[str, str], list[evidence.Row]] = {}
    for paper in papers:
        rows |= evidence.read(results.folder / f"tables/{paper.name}_evidence.parquet")
    return decided(papers, rows, results.scale)


def decided(
    papers: list[Paper], rows: dict[tuple[str, str], list[evidence.Row]], scale: str
) -> dict[tuple[str, str], Verdict]:
    return {
        (paper.name, name): decide(entry, rows.get((paper.name, name), []), scale)
        for paper in papers
        for name, entry in paper.raw["claims"].items()
    }


def choices(claims: list[dict], verdicts: dict[tuple[str, str], Verdict]) -> list[dict]:
    """What the papers leave open, how it was settled, and which verdicts turn on it; what decides most first."""
    settled: dict[str, dict[str, None]] = {}
    for claim in claims:
        for part in verdicts[claim["paper"], claim["id"]].parts:
            for row in part.rows:
                for name, value in row.reading.items():
                    settled.setdefault(name, {})[value] = None
    decides: dict[str, list[dict]] = {name: [] for name, values in settled.items() if len(values) > 1}
    for claim in claims:
        for name in filter(None, str(claim["turns_on"]).split(", ")):
            decides.setdefault(name, []).append(claim)
    words = {MEANING: "what a soft word means", "seed": "the draw of the random problem"}
    found = [
        {"choice": words.get(name, name), "values": list(settled.get(name, {})), "claims": own}
        for name, own in decides.items()
    ]
    return sorted(found, key=lambda one: -len(one["claims"]))


@dataclass(frozen=True)
class Finding:
    paper: str
    kind: str
    surprise: float  # 0 to 1
    sentence: str
    claim: str = ""  # its id; a slip has none


def findings(
    papers: list[Paper], verdicts: dict[tuple[str, str], Verdict], slips: dict[str, list[dict]], most: int = 5
) -> list[Finding]:
    """The most surprising ones, different papers and kinds first."""
    left = [f for paper in papers for f in candidates(paper, verdicts, slips.get(paper.name, []))]
    chosen: list[Finding] = []

    def worth(found: Finding) -> float:
        again = sum(c.paper == found.paper for c in chosen)
        alike = sum(c.kind == found.kind for c in chosen)
        return found.surprise - again - 0.3 * alike

    while left and len(chosen) < most:
        best = max(left, key=worth)
        chosen.append(best)
        left = [
            f
            for f in left
            if f is not best and not (f.claim and (f.paper, f.claim) == (best.paper, best.claim))
        ]
    return chosen


def candidates(paper: Paper, verdicts: dict[tuple[str, str], Verdict], slips: list[dict]) -> list[Finding]:
    found = []
    for name, entry in paper.raw["claims"].items():
        if (verdict := verdicts.get((paper.name, name))) is not None:
            found += [f for part in verdict.parts if (f := from_part(paper, name, entry, verdict, part))]
    for slip in slips:
        if slip["evidence"]:
            words = f"{head(paper, slip['where'])} prints {slip['printed']}, where {slip['meant']} is meant: {slip['evidence']}"
            found.append(Finding(paper.name, SLIP, 0.5, stop(words)))
    return found


def from_part(paper: Paper, name: str, entry: dict, verdict: Verdict, part: Part) -> Finding | None:
    """What one part of a claim has to say that a reader of the paper would not expect; None where it holds."""
    judged = part.real
    if verdict.verdict not in (FAILED, DEPENDS) or judged.verdict != verdict.verdict:
        return None
    said = f"{head(paper, entry['where'])}: “{entry['statement'].rstrip('.')}”"
    values = [row.value for row in part.rows if row.kind == "real" and not math.isnan(row.value)]
    if judged.counterexample is not None:
        worst = judged.counterexample
        settled = ", ".join(f"{k} {v}" for k, v in worst.reading.items())
        words = f"{said} is refuted, since {part.quantity} is {number(worst.value)}" + (
            f" with {settled}" if settled else ""
        )
        return Finding(paper.name, REFUTED, 0.6 + 0.4 * beyond(part, worst.value), stop(words), name)
    if judged.verdict == FAILED:
        words = f"{said} does not hold: {part.quantity} is {span(values)}, not {part.relation.spoken}"
        return Finding(
            paper.name, FAILS, 0.4 + 0.6 * beyond(part, sorted(values)[len(values) // 2]), stop(words), name
        )
    open_choices = [n for n in judged.turns_on if n not in ("seed", MEANING)]
    if not open_choices:
        return None
    turn = (
        judged.turn if len(judged.turn) <= MOST_WORDS else f"it holds in {judged.share:.0%} of the readings"
    )
    words = f"{said} hangs on {listed([SPOKEN.get(n, n) for n in judged.turns_on])}: {turn}"
    even = 1.0 - abs(2 * judged.share - 1)
    plain = len(open_choices) / len(judged.turns_on) ** 2  # one choice alone, neither meanings nor draws
    return Finding(paper.name, HANGS, 0.3 + 0.35 * even + 0.35 * plain, stop(words), name)


def head(paper: Paper, where: str) -> str:
    return f"{short(paper)}, {where}"


def listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def beyond(part: Part, value: float) -> float:
    """How far a value lies on the wrong side: 0 at the threshold, 1 at ten times it or where the side has no scale."""
    ends = [
        end
        for meaning in part.relation.means or (None,)
        for end in part.relation.interval(meaning)[:2]
        if math.isfinite(end)
    ]
    if math.isinf(value) or not ends:
        return 1.0
    nearest = min(ends, key=lambda end: abs(end - value))
    if nearest > 0 and value > 0:
        return min(1.0, abs(math.log10(value / nearest)))
    return min(1.0, abs(value - nearest) / (abs(nearest) or 1.0) / 10)


def stop(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."
