"""A wrong file put where a person puts files: it is said on the screen with the remedy, never touched, and the rest goes on."""

import json

import pytest
from fault_runs import run

pytestmark = [pytest.mark.workflow, pytest.mark.faults]  # long: `make test-faults`
FILE = "data/raw/mushroom/agaricus-lepiota.data"


def test_a_wrong_file_in_data_raw(project, tally):
    (project / FILE).parent.mkdir(parents=True)
    (project / FILE).write_text("<html>please log in</html>")
    wanted = [f"data/decoded/{name}/meta.json" for name in ("mushroom", "boston")]
    done = run(project, "--cores", "1", "--config", "scale=smoke", "--", *wanted)
    sentence = next(line for line in done.stderr.splitlines() if line.startswith("passed over: "))
    for words in (FILE, "expected sha256", "remove it or replace it", "get it from https://"):
        assert words in sentence
    assert (project / FILE).read_text() == "<html>please log in</html>"
    assert all(json.loads((project / path).read_text())["rows"] > 100 for path in wanted)
    tally.add("a wrong file in data/raw", True, "`passed over: … expected sha256 …; remove it or replace it`")


def test_the_only_file_there_is_wrong_and_must_be_real(project, tally):
    (project / FILE).parent.mkdir(parents=True)
    (project / FILE).write_text("p,x,s\n")
    wanted = [f"data/decoded/{name}/meta.json" for name in ("mushroom", "boston")]
    nothing = {"FEDREPRO_MIRROR": str(project / "empty")}
    words = ("--cores", "1", "--config", "scale=smoke", "data=real", "--", *wanted)
    done = run(project, *words, check=False, circumstances=nothing)
    assert done.returncode != 0
    assert f"tried mushroom/agaricus-lepiota.data from {FILE}: expected sha256" in done.stderr
    assert f"and put it at {FILE}" in done.stderr
    assert "boston: the real dataset" in done.stderr  # the other was tried all the same
    tally.add(
        "no real dataset where `data: real` wants it",
        True,
        "what was tried, the digests, where to put the file",
    )
