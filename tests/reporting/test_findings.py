"""What surprises: made from evidence, from different papers, and silent where everything holds."""

from fedrepro.experiments.experiment import Paper
from fedrepro.reporting.evidence import row
from fedrepro.reporting.findings import FAILS, HANGS, REFUTED, SLIP, findings
from fedrepro.reporting.verdicts import decide


def entry(**more) -> dict:
    judged = {"": {"quantity": "the ratio", "relation": "< 1"}}
    return {"where": "section 2", "statement": "It is smaller.", "judged": judged} | more


def paper(name: str, **claims) -> Paper:
    return Paper({"paper": name, "title": f"{name}: a paper", "claims": claims}, None, "paper")


def found(papers, rows, slips=None, most=5):
    verdicts = {
        (p.name, c): decide(e, rows[p.name, c], "paper") for p in papers for c, e in p.raw["claims"].items()
    }
    return findings(papers, verdicts, slips or {}, most)


def test_what_holds_is_no_surprise_and_nor_is_what_was_not_tested():
    one = paper("one", A1=entry(), A2=entry())
    assert found([one], {("one", "A1"): [row(0.5)], ("one", "A2"): [row(5, origin="standin")]}) == []


def test_each_kind_says_its_numbers():
    one = paper("one", A1=entry(bound=True), A2=entry(), A3=entry())
    rows = {
        ("one", "A1"): [row(0.5), row(7.25, kappa=20)],
        ("one", "A2"): [row(3.5), row(3.5, seed=1)],
        ("one", "A3"): [row(v, seed=s, start=w) for w, v in (("zero", 0.5), ("normal", 2)) for s in range(3)],
    }
    slips = {"one": [{"where": "(4)", "printed": "a", "meant": "b", "evidence": "it stays at 0.25"}]}
    by_kind = {f.kind: f.sentence for f in found([one], rows, slips)}
    assert set(by_kind) == {REFUTED, FAILS, HANGS, SLIP}
    assert "7.25 with kappa 20" in by_kind[REFUTED]
    assert "3.5, not < 1" in by_kind[FAILS]
    assert "hangs on start: fails with start normal, holds otherwise" in by_kind[HANGS]
    assert "it stays at 0.25" in by_kind[SLIP]


def test_a_claim_is_told_once():
    judged = {part: {"quantity": part, "relation": "< 1"} for part in ("one", "two")}
    one = paper("one", A1=entry(judged=judged))
    assert len(found([one], {("one", "A1"): [row(5, part="one"), row(9, part="two")]})) == 1


def test_papers_take_turns():
    papers = [paper(name, A1=entry(), A2=entry(), A3=entry()) for name in ("one", "two", "three")]
    rows = {(p.name, c): [row(100.0 if p.name == "one" else 2.0)] for p in papers for c in ("A1", "A2", "A3")}
    assert [f.paper for f in found(papers, rows, most=4)] == ["one", "two", "three", "one"]


def test_a_relative_condemns_nobody():
    one = paper("one", A1=entry())
    assert found([one], {("one", "A1"): [row(5.0, origin="relative")]}) == []
