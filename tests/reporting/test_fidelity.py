"""The table of what scale `paper` runs, beside what the papers do."""

from pathlib import Path

from fedrepro.pipeline.config import load
from fedrepro.reporting.fidelity import BEGIN, END, differences, markdown, replaced, stated

ROOT = Path(__file__).resolve().parents[2]


def papers():
    return load({"scale": "paper"}, ROOT).papers


def test_the_table_in_the_readme_is_current():
    page = (ROOT / "config/README.md").read_text()
    assert replaced(page, papers()) == page, "renew it with `make fidelity`"


def test_every_experiment_is_named():
    page = markdown(papers())
    for name, paper in papers().items():
        if not stated(paper.raw["experiments"]):  # the arena: nobody printed it
            assert f"**{name}**" not in page
            continue
        section = page.split(f"**{name}**")[1].split("**")[0]
        assert all(experiment in section for experiment in paper.raw["experiments"])


def test_a_difference_is_shown_wherever_it_stands():
    paper = papers()["fedsplit"]
    name, experiment = next(iter(paper.raw["experiments"].items()))
    entry = {"value": 3, "printed": 5000, "source": "here", "why": "a | reason"}
    block = next(iter(experiment["algorithms"]))
    experiment["stop"]["rounds"] = entry
    experiment["algorithms"][block] = {"parameters": {"step": entry}}
    found = [(e, k) for e, k, _ in differences(paper) if e == name]
    assert (name, "rounds") in found and (name, f"step of {block}") in found
    assert f"| {name} | rounds: 5,000 | 3 | a \\| reason |" in markdown({"fedsplit": paper})
    assert replaced(f"a\n{BEGIN}\nold\n{END}\nb", {}) == f"a\n{BEGIN}\n{END}\nb"
