"""`fedrepro diff`: every difference between two runs is named, and nothing else."""

import csv

import numpy as np
import pytest

from fedrepro import cli
from fedrepro.experiments import reference, trace
from fedrepro.experiments.comparison import apart, differences, sorted_out
from fedrepro.experiments.reference import Reference
from fedrepro.federation.ledger import Ledger


def write(
    folder,
    *,
    gap=0.5,
    rounds=3,
    seeds=(0, 1),
    seconds=0.1,
    verdict="reproduced",
    claims=("S1",),
    x=1.0,
    timed=1.0,
    key="k",
):
    """The files of a run at one scale: a trace of some seeds, a reference and a table of claims."""
    tables = []
    for seed in seeds:
        cell = trace.Trace(("gap",))
        for t in range(rounds):
            cell.add(round=t, gap=gap if t == 1 else 1.0, seconds=seconds * t, **Ledger(floats_up=t).row())
        tables.append(cell.table(setting="-", params="step=1", seed=seed, status="done"))
    trace.write(folder / "traces/p_e/fedgd.parquet", tables, {"commit": str(gap)})
    facts = {"value": 2.0, "encrypt seconds": timed}
    reference.save(folder / "reference/p_e.npz", {("-", 0): Reference(np.array([x, 2.0]), facts=facts)}, key)
    (folder / "tables").mkdir()
    with open(folder / "tables/p_claims.csv", "w", newline="") as file:
        table = csv.DictWriter(file, ["id", "verdict"])
        table.writeheader()
        table.writerows({"id": claim, "verdict": verdict} for claim in claims)
    return folder


@pytest.fixture
def compared(tmp_path):
    def go(tolerance=0.0, **other):
        one = write(tmp_path / "one")
        return list(differences(one, write(tmp_path / "other", **other), tolerance))

    return go


def test_a_folder_and_itself(tmp_path):
    one = write(tmp_path / "one")
    assert list(differences(one, one)) == []


def test_the_same_run_again(compared):
    assert compared() == []


def test_a_changed_value_is_named_with_its_cell_and_size(compared):
    found = compared(gap=0.505)
    assert len(found) == 2  # one for each seed
    assert (
        found[0].startswith("traces/p_e/fedgd.parquet: cell ('-', 'step=1', 0), gap:")
        and "9.9e-03" in found[0]
    )


def test_a_tolerance_lets_small_differences_pass_and_no_larger_ones(compared):
    assert compared(tolerance=0.01, gap=0.505) == []


def test_a_larger_difference_than_the_tolerance_stays(compared):
    assert len(compared(tolerance=0.001, gap=0.505)) == 2


def test_a_missing_cell_is_named(compared, tmp_path):
    (sentence,) = compared(seeds=(0,))
    assert "cell ('-', 'step=1', 1) only in" in sentence and str(tmp_path / "one") in sentence


def test_a_shorter_cell_is_named(compared):
    found = compared(rounds=2, seeds=(0, 1))
    assert len(found) == 2 and all("3 rows and 2 rows" in sentence for sentence in found)


def test_a_changed_verdict_is_named(compared):
    assert compared(verdict="not reproduced") == ["tables/p_claims.csv: S1: reproduced and not reproduced"]


def test_a_claim_that_one_run_lacks_is_named(compared):
    assert compared(claims=("S1", "S2")) == ["tables/p_claims.csv: S2: absent and reproduced"]


def test_a_changed_reference_is_named(compared):
    (sentence,) = compared(x=1.5)
    assert sentence.startswith("reference/p_e.npz: -|0|optimum|x: relative difference")


def test_clocks_are_not_compared(compared):
    assert compared(seconds=7.0, timed=9.0) == []


def test_the_keys_of_what_made_them_are_not_results(compared):
    assert compared(key="other code") == []


def test_a_file_that_one_run_lacks_is_named(tmp_path):
    one, other = write(tmp_path / "one"), write(tmp_path / "other")
    (other / "traces/p_e/fedgd.parquet").unlink()
    assert list(differences(one, other)) == [f"traces/p_e/fedgd.parquet: only in {one}"]


def test_numbers_apart():
    nan = np.array([np.nan, 1.0])
    assert apart(nan, nan.copy(), 0.0) == ""
    assert apart(nan, np.array([0.0, 1.0]), 0.5) != ""
    assert apart(np.array([np.inf]), np.array([np.inf]), 0.0) == ""
    assert apart(np.array([np.inf]), np.array([1.0]), 0.5) != ""
    assert apart(np.array([0.0]), np.array([0.0]), 0.0) == ""
    assert "shapes" in apart(np.zeros(2), np.zeros(3), 1.0)
    assert apart(np.array(["a", "b"]), np.array(["a", "c"]), 1.0) == "1 of 2 entries differ"


def test_the_command_says_so_and_fails_where_there_is_something(tmp_path, capsys):
    one, other = write(tmp_path / "one"), write(tmp_path / "other", gap=0.505)
    assert cli.main(["diff", str(one), str(one)]) == 0
    assert capsys.readouterr().out == "no differences\n"
    assert cli.main(["diff", str(one), str(other)]) == 1
    assert capsys.readouterr().out.endswith("2 differences\n")
    assert cli.main(["diff", str(one), str(other), "--tolerance", "0.01"]) == 0
    assert cli.main(["diff", str(one), str(tmp_path / "none")]) == 1
    assert "has no traces" in capsys.readouterr().err


def test_verdicts_come_first_and_missing_files_are_told_from_numbers():
    sentences = [
        "traces/a/b.parquet: only in there",
        "traces/a/c.parquet: cell ('-', '', 0), gap: relative difference up to 1.0e-03",
        "tables/a_claims.csv: S1: reproduced and depends",
    ]
    found = sorted_out(sentences)
    assert list(found) == ["verdicts that changed", "missing", "numbers beyond the tolerance"]
    assert list(found.values()) == [[sentences[2]], [sentences[0]], [sentences[1]]]
