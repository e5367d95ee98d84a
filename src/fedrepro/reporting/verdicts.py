"""The one rule that turns evidence into verdicts, for every claim of every paper.

A claim's YAML entry says what is judged: parts, each with a quantity and a relation such as `< 100`, `> means`,
`within means of 34000` or `between 2 and 3`. Where the paper's word is soft ("far slower"), `means` lists what it may
mean, and every meaning is tried. A part holds in a *cell*, one reading and one meaning, in some share of the seeds.

- reproduced: nearly all cells and seeds; not reproduced: nearly none; depends: otherwise, naming the fewest choices that
  decide it; not tested: nothing measured, or on stand-ins only.
- A `bound` is refuted by one counterexample.
- What was measured on a relative of the paper's data is judged by itself and neither promotes nor condemns.
- A claim of several parts holds where all of them do.
- How much is "nearly all" is a choice too: where another one would give another verdict, the sentence says so.
"""

import itertools
import math
from dataclasses import dataclass, field

from fedrepro.reporting.evidence import REAL, RELATIVE, Row

REPRODUCED, DEPENDS, FAILED, UNTESTED = "reproduced", "depends", "not reproduced", "not tested"
ON_RELATIVE = {
    REPRODUCED: "on a relative: holds", DEPENDS: "on a relative: depends", FAILED: "on a relative: fails",
}  # fmt: skip
VERDICTS = (REPRODUCED, DEPENDS, FAILED, UNTESTED, *ON_RELATIVE.values())
NEARLY = 0.95  # the share of cells and seeds that is nearly all
OTHERWISE = (0.8, 0.9, 1.0)  # what else it might be
MEANING = "meaning"  # the choice that a soft word leaves


@dataclass(frozen=True)
class Relation:
    """What the paper says of a quantity."""

    text: str
    means: tuple[float, ...] = ()

    def __post_init__(self):
        if ("means" in self.text.split()) != bool(self.means):
            raise ValueError(f"the relation '{self.text}' and `means` go together")
        self.interval(1.0)

    def interval(self, meaning: float | None = None) -> tuple[float, float, bool]:
        """The values for which it holds: low, high, and whether the ends belong to it."""

        def at(word):
            return meaning if word == "means" else float(word)

        match self.text.split():
            case ["<" | "<=" as side, threshold]:
                return -math.inf, at(threshold), side == "<="
            case [">" | ">=" as side, threshold]:
                return at(threshold), math.inf, side == ">="
            case ["within", part, "of", middle]:
                reach = at(part) * abs(float(middle))
                return float(middle) - reach, float(middle) + reach, True
            case ["between", low, "and", high]:
                return float(low), float(high), True
        raise ValueError(
            f"the relation '{self.text}' is none of: < 1, >= means, within 0.1 of 40, between 2 and 3"
        )

    def holds(self, row: Row, meaning: float | None = None) -> bool | None:
        """None where a run ended too early to say."""
        low, high, closed = self.interval(meaning)
        if math.isnan(row.value):
            return None
        above = row.value >= low if closed or low == -math.inf else row.value > low
        inside = above and (row.value <= high if closed or high == math.inf else row.value < high)
        if row.censored == "at least":  # the number is this or more
            return False if row.value > high else True if inside and high == math.inf else None
        if row.censored == "at most":
            return False if row.value < low else True if inside and low == -math.inf else None
        return inside

    def words(self, meaning: float | None = None) -> str:
        return self.text if meaning is None else self.text.replace("means", f"{meaning:g}")

    @property
    def spoken(self) -> str:
        """With the range of what a soft word may mean: `> 2 to 5`."""
        ends = sorted({f"{m:g}": m for m in self.means}.values())
        return (
            self.text.replace("means", f"{ends[0]:g} to {ends[-1]:g}" if len(ends) > 1 else f"{ends[0]:g}")
            if ends
            else self.text
        )


@dataclass(frozen=True)
class Cell:
    """One reading with one meaning of a soft word: in which share of the seeds the relation holds."""

    choices: dict[str, str]
    share: float
    nearly: float = NEARLY

    @property
    def outcome(self) -> str:
        return outcome(self.share, self.nearly)


def outcome(share: float, nearly: float) -> str:
    slack = 1e-9  # shares are sums of fractions
    return "holds" if share >= nearly - slack else "fails" if share <= 1 - nearly + slack else "mixed"


@dataclass
class Judgement:
    """Of one part, on one kind of data: its verdict, in which share of cells and seeds it holds, what it turns on."""

    verdict: str
    share: float = float("nan")
    cells: list[Cell] = field(default_factory=list)
    turns_on: tuple[str, ...] = ()
    turn: str = ""  # in words: where it holds and where it fails
    counterexample: Row | None = None
    undecided: int = 0


def judge(relation: Relation, rows: list[Row], bound: bool = False, nearly: float = NEARLY) -> Judgement:
    """One part on one kind of data."""
    cells, undecided, against = [], 0, []
    by_reading: dict[tuple, list[Row]] = {}
    for row in rows:
        by_reading.setdefault(tuple(sorted(row.reading.items())), []).append(row)
    for meaning in relation.means or (None,):
        for reading, found in by_reading.items():
            held = [relation.holds(row, meaning) for row in found]
            decided = [h for h in held if h is not None]
            undecided += len(held) - len(decided)
            against += [row for row, h in zip(found, held, strict=True) if h is False]
            if decided:
                extra = {} if meaning is None else {MEANING: relation.words(meaning)}
                cells.append(Cell(dict(reading) | extra, sum(decided) / len(decided), nearly))
    if not cells:
        return Judgement(UNTESTED, undecided=undecided)
    share = sum(cell.share for cell in cells) / len(cells)
    if bound:
        worst = max(against, key=lambda r: excess(relation, r), default=None)
        return Judgement(FAILED if against else REPRODUCED, share, cells, (), "", worst, undecided)
    if (found := outcome(share, nearly)) != "mixed":
        return Judgement(REPRODUCED if found == "holds" else FAILED, share, cells, undecided=undecided)
    names, words = turning(cells)
    return Judgement(DEPENDS, share, cells, names, words, undecided=undecided)


def excess(relation: Relation, row: Row) -> float:
    """How far outside a value lies, for naming the worst counterexample."""
    low, high, _ = relation.interval(relation.means[0] if relation.means else None)
    return max(
        row.value - high if high < math.inf else -math.inf, low - row.value if low > -math.inf else -math.inf
    )


def turning(cells: list[Cell]) -> tuple[tuple[str, ...], str]:
    """The fewest choices that decide whether it holds, and where it does. `seed` where no choice does."""
    varied = [c for c in sorted({k for cell in cells for k in cell.choices})
              if len({cell.choices.get(c) for cell in cells}) > 1]  # fmt: skip
    best: tuple[float, tuple[str, ...], dict] | None = None
    for count in range(1, len(varied) + 1):
        for names in itertools.combinations(varied, count):
            groups: dict[tuple, list[Cell]] = {}
            for cell in cells:
                groups.setdefault(tuple(cell.choices.get(n, "-") for n in names), []).append(cell)
            outcomes = {key: {cell.outcome for cell in found} for key, found in groups.items()}
            decided = sum(
                len(groups[k]) for k, o in outcomes.items() if len(o) == 1 and o != {"mixed"}
            ) / len(cells)
            if best is None or decided > best[0] + 1e-9:
                best = decided, names, outcomes
        if best and best[0] >= 1 - 1e-9:
            break
    if best is None:
        return ("seed",), "holds in some seeds"
    decided, names, outcomes = best
    holds = [key for key, o in outcomes.items() if o == {"holds"}]
    fails = [key for key, o in outcomes.items() if o == {"fails"}]
    other = [key for key in outcomes if key not in holds and key not in fails]
    few, verb, rest = (fails, "fails", "holds") if len(fails) <= len(holds) else (holds, "holds", "fails")
    if few and not other and len(few) <= FEW:
        words = f"{verb} with {listed(names, few)}, {rest} otherwise"
    elif len(outcomes) <= FEW:
        kinds = (("holds", holds), ("fails", fails), ("in some seeds or choices", other))
        words = "; ".join(f"{verb} with {listed(names, keys)}" for verb, keys in kinds if keys)
    else:
        words = f"holds in {len(holds)} and fails in {len(fails)} of {len(outcomes)} combinations of {', '.join(names)}"
        words += f"; {strongest(cells, names)}"
    return (names if decided >= 1 - 1e-9 else (*names, "seed")), words


FEW = 3  # combinations of choices that a sentence lists; of more it counts them


def strongest(cells: list[Cell], names: tuple[str, ...]) -> str:
    """The choice whose value matters most by itself: with which it holds most often and with which least."""

    def shares(name: str) -> dict[str, float]:
        found: dict[str, list[float]] = {}
        for cell in cells:
            found.setdefault(cell.choices.get(name, "-"), []).append(cell.share)
        return {value: sum(s) / len(s) for value, s in found.items()}

    known = {name: shares(name) for name in names}
    name = max(names, key=lambda n: max(known[n].values()) - min(known[n].values()))
    most, least = max(known[name], key=known[name].get), min(known[name], key=known[name].get)
    return (
        f"most often with {listed((name,), [(most,)])} ({known[name][most]:.0%}), "
        f"least with {listed((name,), [(least,)])} ({known[name][least]:.0%})"
    )


def listed(names: tuple[str, ...], keys: list[tuple]) -> str:
    """`start last, step 1/L* or …`; a meaning is said by itself."""
    return " or ".join(
        ", ".join(v if n == MEANING else f"{n} {v}" for n, v in zip(names, key, strict=True)) for key in keys
    )


@dataclass
class Part:
    """One thing a claim says, and what came of it."""

    name: str
    quantity: str
    relation: Relation
    rows: list[Row]
    real: Judgement
    relative: Judgement

    @property
    def verdict(self) -> str:
        return self.main.verdict if self.main is self.real else ON_RELATIVE.get(self.main.verdict, UNTESTED)

    @property
    def main(self) -> Judgement:
        """What decides: the paper's data, or failing them a relative."""
        return (
            self.real if self.real.verdict != UNTESTED or self.relative.verdict == UNTESTED else self.relative
        )


@dataclass
class Verdict:
    verdict: str
    parts: list[Part]
    turns_on: tuple[str, ...]
    why: str  # one sentence, made from the evidence

    @property
    def share(self) -> float:
        shares = [part.main.share for part in self.parts if not math.isnan(part.main.share)]
        return sum(shares) / len(shares) if shares else float("nan")


def decide(entry: dict, rows: list[Row], scale: str) -> Verdict:
    """The verdict on one claim from its YAML entry and its evidence."""
    known = set(entry["judged"])
    unknown = sorted({row.part for row in rows} - known)
    if unknown:
        raise LookupError(
            f"evidence for the part '{unknown[0]}', which `judged` does not list ({', '.join(known)})"
        )
    parts = judged_parts(entry, rows, NEARLY)
    if entry.get("only_at", scale) != scale:
        return Verdict(
            UNTESTED,
            parts,
            (),
            f"an absolute number of scale {entry['only_at']}, which scale {scale} cannot meet",
        )
    verdict = together([part.verdict for part in parts])
    deciding = [p for p in parts if p.verdict == verdict] or parts
    turns_on = tuple(dict.fromkeys(n for p in deciding for n in p.main.turns_on))
    words = [sentence(part) for part in parts]
    for nearly in OTHERWISE:
        other = together([part.verdict for part in judged_parts(entry, rows, nearly)])
        if other != verdict:
            words.append(f"With {nearly:.0%} as nearly all: {other}.")
    return Verdict(verdict, parts, turns_on, " ".join(words))


def judged_parts(entry: dict, rows: list[Row], nearly: float) -> list[Part]:
    parts = []
    for name, judged in entry["judged"].items():
        relation = Relation(judged["relation"], tuple(judged.get("means", {}).get("grid", ())))
        own = [row for row in rows if row.part == name]
        bound = judged.get("bound", entry.get("bound", False))
        kinds = [
            judge(relation, [r for r in own if r.kind == kind], bound, nearly) for kind in (REAL, RELATIVE)
        ]
        parts.append(Part(name, judged["quantity"], relation, own, *kinds))
    return parts


def together(found: list[str]) -> str:
    """All parts must hold: the worst of them decides, and one on the paper's data before one on a relative."""
    order = (
        FAILED,
        ON_RELATIVE[FAILED],
        UNTESTED,
        DEPENDS,
        ON_RELATIVE[DEPENDS],
        ON_RELATIVE[REPRODUCED],
        REPRODUCED,
    )
    return next(verdict for verdict in order if verdict in found)


def sentence(part: Part) -> str:
    """What was measured of a part, in one sentence."""
    main = part.main
    kind = REAL if main is part.real else RELATIVE
    rows = [row for row in part.rows if row.kind == kind and not math.isnan(row.value)]
    if not rows:
        standins = any(row.kind not in (REAL, RELATIVE) for row in part.rows)
        return (
            f"{part.quantity}: measured on stand-in data only."
            if standins
            else f"{part.quantity}: not measured."
        )
    readings = len({tuple(sorted(row.reading.items())) for row in rows})
    seeds = len({row.seed for row in rows})
    spread = f"{readings} reading{'s' * (readings > 1)}, {seeds} seed{'s' * (seeds > 1)}"
    words = f"{part.quantity}: {span([row.value for row in rows])} ({spread})"
    words += " on a relative of the data" if kind == RELATIVE else ""
    if main.verdict == DEPENDS:
        words += f"; {part.relation.spoken} in {main.share:.0%} of them: {main.turn}"
    elif main.counterexample is not None:
        worst = main.counterexample
        settled = ", ".join(f"{k} {v}" for k, v in worst.reading.items())
        words += f"; {part.relation.spoken} is refuted by {number(worst.value)}" + (
            f" with {settled}" if settled else ""
        )
    else:
        outcome = {REPRODUCED: "holds", FAILED: "fails", UNTESTED: "cannot be decided"}[main.verdict]
        words += f"; {part.relation.spoken} {outcome}"
    if main.undecided:
        words += f"; {main.undecided} ended too early to say"
    if main is part.real and part.relative.verdict != UNTESTED:
        words += f"; {ON_RELATIVE[part.relative.verdict]}"
    return words + "."


def span(values: list[float]) -> str:
    """Median and range, `412 [405, 430]`."""
    values = sorted(values)
    middle = values[len(values) // 2] if len(values) % 2 else sum(values[len(values) // 2 - 1 :][:2]) / 2
    low, high = number(values[0]), number(values[-1])
    return low if low == high else f"{number(middle)} [{low}, {high}]"


def number(value: float) -> str:
    """Three digits that matter, thousands apart; `never` for what never happened."""
    if math.isinf(value):
        return "never" if value > 0 else "-∞"
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
