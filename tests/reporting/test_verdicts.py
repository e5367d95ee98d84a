"""The one rule: every kind of evidence gives the verdict it should, and names what it turns on."""

import math
import re

import pytest

from fedrepro.reporting import evidence
from fedrepro.reporting.evidence import row
from fedrepro.reporting.strips import strip
from fedrepro.reporting.verdicts import (
    DEPENDS,
    FAILED,
    ON_RELATIVE,
    REPRODUCED,
    UNTESTED,
    Relation,
    decide,
    judge,
    number,
    together,
)


def entry(relation="< 1", means=None, **more):
    judged = {"quantity": "a number", "relation": relation} | ({"means": {"grid": means}} if means else {})
    return {"judged": {"": judged}} | more


def verdict(rows, relation="< 1", means=None, scale="paper", **more):
    return decide(entry(relation, means, **more), rows, scale)


def seeds(value, count=5, **more):
    return [row(value, seed=s, **more) for s in range(count)]


@pytest.mark.parametrize(
    ("relation", "value", "holds"),
    [
        ("< 1", 0.9, True), ("< 1", 1.0, False), ("<= 1", 1.0, True), ("> 2", 2.0, False), (">= 2", 2.0, True),
        ("within 0.1 of 40", 43.9, True), ("within 0.1 of 40", 44.1, False), ("between 2 and 3", 3.0, True),
        ("between 2 and 3", 3.1, False), ("< 1", math.inf, False), ("> 1", math.inf, True), ("< 1", math.nan, None),
    ],
)  # fmt: skip
def test_relations(relation, value, holds):
    assert Relation(relation).holds(row(value)) is holds


@pytest.mark.parametrize("text", ["about 3", "< ", "< means", "between 2", "within 1 of", "~ 3", "> x"])
def test_a_relation_nobody_can_judge_is_refused(text):
    with pytest.raises(ValueError, match=r"relation|could not convert"):
        Relation(text)


def test_censored_values_decide_only_what_they_can():
    at_least, at_most = row(5, censored="at least"), row(5, censored="at most")
    assert Relation("> 3").holds(at_least) is True
    assert Relation("> 8").holds(at_least) is None
    assert Relation("< 3").holds(at_least) is False
    assert Relation("< 8").holds(at_least) is None
    assert Relation("< 8").holds(at_most) is True
    assert Relation("> 8").holds(at_most) is False
    assert verdict([row(5, censored="at least")], "> 8").verdict == UNTESTED


def test_nearly_all_and_nearly_none():
    assert verdict(seeds(0.5)).verdict == REPRODUCED
    assert verdict(seeds(1.5)).verdict == FAILED
    assert verdict([*seeds(0.5, 4), row(1.5, seed=4)]).verdict == DEPENDS


def test_the_smallest_set_of_choices_is_named():
    rows = [
        one
        for start, value in (("zero", 0.5), ("normal", 1.5))
        for step in ("small", "large")
        for one in seeds(value, start=start, step=step)
    ]
    found = verdict(rows)
    assert (found.verdict, found.turns_on) == (DEPENDS, ("start",))
    assert "fails with start normal" in found.why


def test_two_choices_where_one_is_not_enough():
    rows = [
        one
        for a in ("x", "y")
        for b in ("x", "y")
        for c in ("x", "y")
        for one in seeds(0.5 if a == b else 1.5, a=a, b=b, c=c)
    ]
    assert verdict(rows).turns_on == ("a", "b")


def test_many_combinations_are_counted_and_the_strongest_choice_is_named():
    rows = [
        one
        for a in range(4)
        for b in range(4)
        for one in seeds(0.5 if 2 * a + b > 5 else 1.5, a=str(a), b=str(b))
    ]
    why = verdict(rows).why
    assert "holds in 6 and fails in 10 of 16 combinations of a, b" in why
    assert "most often with a 3 (100%), least with a 0 (0%)" in why


def test_a_meaning_is_a_choice():
    found = verdict(seeds(4.0), "> means", [2, 3, 5])
    assert (found.verdict, found.turns_on) == (DEPENDS, ("meaning",))
    assert verdict(seeds(9.0), "> means", [2, 3, 5]).verdict == REPRODUCED
    assert verdict(seeds(1.0), "> means", [2, 3, 5]).verdict == FAILED


def test_seeds_are_named_where_no_choice_decides():
    rows = [row(0.5 + (s % 2), seed=s, start=start) for s in range(4) for start in ("zero", "normal")]
    assert "seed" in verdict(rows).turns_on


def test_stand_ins_test_nothing():
    assert verdict(seeds(0.5, origin="standin")).verdict == UNTESTED
    assert verdict([]).verdict == UNTESTED
    mixed = [*seeds(0.5, origin="mirror", data="a"), *seeds(1.5, origin="standin", data="b")]
    assert verdict(mixed).verdict == REPRODUCED


def test_a_relative_neither_promotes_nor_condemns():
    for value, real, relative in ((0.5, REPRODUCED, REPRODUCED), (1.5, FAILED, FAILED)):
        assert verdict(seeds(value, origin="relative")).verdict == ON_RELATIVE[relative]
        other = seeds(2.0 - value, origin="relative", data="b")
        assert verdict([*seeds(value, origin="publisher", data="a"), *other]).verdict == real


def test_a_bound_falls_by_one_counterexample_which_is_named():
    rows = [*seeds(0.5, 50, kappa=20), row(1.2, seed=50, kappa=20)]
    assert verdict(rows).verdict == REPRODUCED
    found = verdict(rows, bound=True)
    assert found.verdict == FAILED
    assert "1.2 with kappa 20" in found.why
    assert verdict(rows[:-1], bound=True).verdict == REPRODUCED


def test_a_part_may_be_no_bound_where_its_claim_is_one():
    rows = [*seeds(0.5, 50, part="one"), row(1.2, seed=50, part="one")]
    claim = {"bound": True, "judged": {"one": {"quantity": "one", "relation": "< 1"}}}
    assert decide(claim, rows, "paper").verdict == FAILED
    claim["judged"]["one"]["bound"] = False
    assert decide(claim, rows, "paper").verdict == REPRODUCED


def test_all_parts_must_hold():
    claim = {"judged": {p: {"quantity": p, "relation": "< 1"} for p in ("one", "two")}}
    one, two = seeds(0.5, part="one"), seeds(0.5, part="two")
    assert decide(claim, one + two, "paper").verdict == REPRODUCED
    assert decide(claim, one + seeds(1.5, part="two"), "paper").verdict == FAILED
    assert decide(claim, one, "paper").verdict == UNTESTED
    with pytest.raises(LookupError, match="three"):
        decide(claim, seeds(0.5, part="three"), "paper")
    assert together([REPRODUCED, DEPENDS]) == DEPENDS


def test_absolute_numbers_wait_for_their_scale():
    assert verdict(seeds(0.5), scale="smoke", only_at="paper").verdict == UNTESTED
    assert verdict(seeds(0.5), scale="paper", only_at="paper").verdict == REPRODUCED


def test_evidence_is_kept_whole(tmp_path):
    rows = {
        "S1": [row(0.5, seed=2, origin="mirror", part="a", censored="at least", inner_start="last")],
        "S2": [],
    }
    evidence.write(tmp_path / "e.parquet", [evidence.table("fedsplit", rows)])
    assert evidence.read(tmp_path / "e.parquet") == {("fedsplit", "S1"): rows["S1"]}
    assert rows["S1"][0].reading == {"inner start": "last"}


def values_in(picture: str) -> int:
    """Dots, and what lies under them on the same pixel."""
    return picture.count("<circle") + sum(map(int, re.findall(r"; (\d+) more</title>", picture)))


def test_a_strip_shows_every_row_and_escapes_words():
    claim = entry("> means", [2, 3])
    claim["judged"][""] |= {"quantity": "a <b> & c", "paper": 2.5}
    rows = [
        *seeds(4.0, start="<script>"),
        *seeds(math.inf, start="never"),
        *seeds(1.0, start="low", origin="relative"),
    ]
    picture = strip(decide(claim, rows, "paper"), claim)
    assert values_in(picture) == len(rows)
    assert "<script>" not in picture
    assert "a &lt;b&gt; &amp; c" in picture
    assert "the paper: 2.5" in picture


def test_many_readings_share_lines():
    rows = [row(1.0, a=i % 3, b=i) for i in range(40)]
    picture = strip(verdict(rows, "> 2"), entry("> 2"))
    assert values_in(picture) == 40 and picture.count("<circle") == 3
    assert picture.count('text-anchor="end"') == 3


@pytest.mark.parametrize(
    ("value", "words"),
    [(34012.3, "34,012"), (0.5, "0.5"), (1e-7, "1e-07"), (math.inf, "never"), (12.345, "12.3")],
)
def test_numbers_in_words(value, words):
    assert number(value) == words


def test_judgements_count_what_could_not_be_decided():
    rows = [row(5, seed=0, censored="at least"), row(9, seed=1)]
    assert judge(Relation("> 8"), rows).undecided == 1


def test_another_nearly_all_is_said_where_it_matters():
    entry = {"judged": {"": {"quantity": "rounds", "relation": "< 10"}}}
    held = [row(5, seed=s) for s in range(9)]
    fair = decide(entry, [*held, row(50, seed=9)], "paper")
    assert fair.verdict == "depends"
    assert (
        "With 80% as nearly all: reproduced." in fair.why
        and "With 90% as nearly all: reproduced." in fair.why
    )
    assert "as nearly all" not in decide(entry, held, "paper").why
