"""Pages and notebooks show what this run made, as text."""

import shutil

import pandas as pd
import pyarrow as pa

from fedrepro.experiments.results import Results
from fedrepro.reporting import notebooks, page
from made_results import write_trace


def test_provenance_counts_declared_traces_only(tmp_path):
    folder = tmp_path / "smoke"
    rows = pa.table({"round": [0, 1]})
    for block, cpu in (("one", "fast"), ("other", "fast")):
        write_trace(folder, "toy_fig1", block, [rows], cpu=cpu)
    left = folder / "traces/toy_fig1/gone.parquet"
    shutil.copy(folder / "traces/toy_fig1/one.parquet", left)
    found = {row["what"]: row["values"] for row in page.provenance(Results(folder), ["toy_fig1"])}
    assert found["cpu"] == [("fast", 2)]


def test_words_of_the_configuration_are_no_html_in_a_notebook():
    assert notebooks.verdicts
    shown = pd.DataFrame({"printed": ["<script>alert(1)</script> & <b>"]}).style.hide(axis="index").to_html()
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "<b>" not in shown
