"""Judging a paper: every claim reads what it declares, and its row says what was found."""

import csv

import pytest

from fedrepro.experiments import registry, trace
from fedrepro.experiments.results import Results
from fedrepro.federation.ledger import Ledger
from fedrepro.reporting import claims
from fedrepro.reporting.evidence import rows_by_seed
from made_results import write_trace

ENTRIES = {
    "A1": {
        "where": "section 1", "statement": "It falls.", "paper_value": "below 1", "experiments": ["e"], "figure": "fig1",
        "judged": {"": {"quantity": "the last gap", "relation": "< 1"}},
    },
    "A2": {
        "where": "section 2", "statement": "It rises.", "paper_value": "above 1", "experiments": ["e"],
        "judged": {"": {"quantity": "the last gap", "relation": "> 1"}},
    },
}  # fmt: skip


@pytest.fixture
def results(tmp_path):
    for experiment in ("p_e", "p_other"):
        tables = []
        for seed in range(3):
            cell = trace.Trace(("gap",))
            for t in range(2):
                cell.add(round=t, gap=2.0 - 1.5 * t, seconds=0.0, **Ledger().row())
            labels = {"experiment": experiment, "dataset": "MNIST", "data_origin": "mirror", "setting": "-"}
            tables.append(cell.table(**labels, algorithm="a", params="", seed=seed, status="done"))
        write_trace(tmp_path / "smoke", experiment, "a", tables)
    return Results(tmp_path / "smoke")


@pytest.fixture
def registered(monkeypatch):
    """A function that registers what measures the paper p."""

    def register(kind, function):
        monkeypatch.setattr(kind, "get", lambda paper, name: function)

    return register


def last_gap(results):
    yield from rows_by_seed(results.ends("p_e"), "gap", start="zero")


def test_a_row_for_every_claim_with_its_verdict(results, registered, tmp_path):
    registered(registry.claim, last_gap)
    found = claims.measure("p", ENTRIES, results)
    judged = claims.judge(ENTRIES, found, results.scale)
    claims.write(tmp_path / "c.csv", claims.COLUMNS, claims.table("p", ENTRIES, judged, results.scale))
    with open(tmp_path / "c.csv", newline="") as file:
        one, two = csv.DictReader(file)
    assert (one["id"], one["paper"], one["verdict"], one["figure"]) == ("A1", "p", "reproduced", "fig1")
    assert (two["id"], two["verdict"], two["figure"]) == ("A2", "not reproduced", "")
    assert (one["seeds"], one["readings"], one["data_origin"], one["scale"]) == ("3", "1", "mirror", "smoke")
    assert one["statement"] == "It falls." and one["where"] == "section 1"


def test_every_claim_gets_a_strip(results, registered, tmp_path):
    registered(registry.claim, last_gap)
    judged = claims.judge(ENTRIES, claims.measure("p", ENTRIES, results), results.scale)
    claims.write_strips(tmp_path / "strips", ENTRIES, judged)
    assert {p.name for p in (tmp_path / "strips").iterdir()} == {"A1.svg", "A2.svg"}
    assert all(p.read_text().startswith("<svg") for p in (tmp_path / "strips").iterdir())


def test_a_claim_cannot_read_what_its_entry_does_not_list(results, registered):
    def nosy(results):
        yield from rows_by_seed(results.ends("p_other"), "gap")

    registered(registry.claim, nosy)
    with pytest.raises(LookupError, match="p_other is read but not listed"):
        claims.measure("p", ENTRIES, results)


def test_a_slip_is_shown_with_what_was_measured_of_it(results, registered):
    registered(registry.evidence, lambda results: f"the gap ends at {results.ends('p_e').gap.median():g}")
    slip = {"where": "(4)", "printed": "a", "meant": "b"}
    rows = claims.examine("p", [slip | {"evidence": "gaps", "experiments": ["e"]}, slip], results)
    assert rows == [slip | {"evidence": "the gap ends at 0.5"}, slip | {"evidence": ""}]
    with pytest.raises(LookupError, match="not listed"):
        claims.examine("p", [slip | {"evidence": "gaps"}], results)
