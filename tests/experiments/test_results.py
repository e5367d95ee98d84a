"""What a finished run left behind, and who may read what of it."""

import pytest

from fedrepro.experiments import trace
from fedrepro.experiments.reference import Reference
from fedrepro.experiments.results import Results, Stale
from fedrepro.federation.ledger import Ledger
from made_results import expect, write_reference, write_trace


@pytest.fixture
def results(tmp_path):
    for experiment in ("p_e", "p_f"):
        for algorithm in ("a", "b"):
            cell = trace.Trace(("gap",))
            for t in range(3):
                cell.add(round=t, gap=1.0 / (t + 1), seconds=0.0, **Ledger().row())
            labels = {
                "experiment": experiment, "dataset": f"data of {experiment}", "data_origin": "mirror", "setting": "-",
                "algorithm": algorithm, "params": "", "seed": 0, "status": "done",
            }  # fmt: skip
            write_trace(tmp_path / "smoke", experiment, algorithm, [cell.table(**labels)], commit="x")
        write_reference(tmp_path / "smoke", experiment, {("-", 0): Reference(facts={"value": 1.0})})
    return Results(tmp_path / "smoke")


def test_traces_ends_and_origins(results):
    assert results.scale == "smoke"
    assert len(results.traces("p_e", "p_f")) == 12
    assert results.ends("p_e")["round"].tolist() == [2, 2]
    assert results.origins("p_e", "p_f") == {"data of p_e": "mirror", "data of p_f": "mirror"}
    assert results.reference("p_e")["-", 0].facts == {"value": 1.0}
    assert results.footer("p_e", "a")["commit"] == "x"


def test_what_was_not_declared_cannot_be_read(results):
    some = results.declared(["p_e"])
    assert len(some.traces("p_e")) == 6 and some.folder == results.folder
    for read in (some.traces, some.ends, some.reference, some.origins, lambda e: some.footer(e, "a")):
        with pytest.raises(LookupError, match="p_f is read but not listed"):
            read("p_f")
    with pytest.raises(LookupError, match="not listed"):
        results.declared([]).traces("p_e")


def test_what_is_not_there_names_the_command(results):
    with pytest.raises(FileNotFoundError, match="snakemake --cores 2 --config scale=smoke"):
        results.traces("p_g")
    with pytest.raises(FileNotFoundError, match="scale=smoke"):
        results.claims()


def test_what_was_made_of_something_else_is_refused(results):
    expect(results.folder, "traces", "p_e/b", "another configuration")
    with pytest.raises(Stale, match=r"p_e/b\.parquet was made by another configuration"):
        results.traces("p_e")
    assert len(results.traces("p_f")) == 6
    expect(results.folder, "reference", "p_f", "another configuration")
    with pytest.raises(Stale):
        results.reference("p_f")


def test_a_final_point_and_its_footer_are_those_of_the_configuration(results):
    expect(results.folder, "traces", "p_e/b", "another configuration")
    for read in (results.footer, results.point, results.geometry):
        with pytest.raises(Stale, match=r"p_e/b\.parquet was made by another configuration"):
            read("p_e", "b")
    (results.folder / "keys/traces/p_f/b.key").unlink()
    with pytest.raises(FileNotFoundError, match="scale=smoke"):
        results.footer("p_f", "b")


def test_all_claims_are_those_that_the_run_gathered(results):
    tables = results.folder / "tables"
    tables.mkdir()
    (tables / "gone_claims.csv").write_text("id,paper\nG1,gone\n")
    with pytest.raises(FileNotFoundError, match="scale=smoke"):
        results.claims()
    (results.folder / "claims.csv").write_text("id,paper\nP1,p\n")
    assert results.claims().id.tolist() == ["P1"]


def test_a_trace_that_nobody_declares_is_not_read(results):
    (results.folder / "keys/traces/p_e/b.key").unlink()
    assert set(results.traces("p_e").algorithm) == {"a"}
