"""Files that something else cut short, emptied or removed: no good result is lost, and the remedy is said."""

import pytest
from bits import differences
from fault_runs import FIGURE, SMOKE, run

pytestmark = pytest.mark.workflow

REFERENCE = "results/smoke/reference/fedsplit_fig1.npz"
TRACES = "results/smoke/traces/fedsplit_fig1"


def names(folder) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_a_reference_cut_short(finished, after, tally):
    path, traces = after / REFERENCE, names(after / TRACES)
    path.write_bytes(path.read_bytes()[:-100])
    done = run(after, "--cores", "1", FIGURE, *SMOKE, check=False)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert f"{REFERENCE} is damaged" in done.stderr and f"rm {REFERENCE}" in done.stderr
    assert names(after / TRACES) == traces
    path.unlink()  # the command it says
    run(after, "--cores", "1", FIGURE, *SMOKE)
    assert differences(finished / "results/smoke", after / "results/smoke") == []
    tally.add(
        "a reference cut short", True, "`… is damaged (…). Remove and run the same command again: rm …`"
    )


def test_a_reference_damaged_in_the_middle(finished, after, tally):
    """Its ends are as they should be, so that only the job that reads it can tell."""
    path = after / REFERENCE
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        whole[:middle] + bytes(b ^ 255 for b in whole[middle : middle + 64]) + whole[middle + 64 :]
    )
    done = run(after, "--cores", "1", FIGURE, *SMOKE, check=False)
    assert (
        done.returncode != 0 and f"{REFERENCE} is damaged" in done.stderr and f"rm {REFERENCE}" in done.stderr
    )
    again = run(after, "--cores", "1", FIGURE, *SMOKE, check=False)
    assert again.returncode != 0 and "Nothing to be done" not in again.stderr
    path.unlink()
    run(after, "--cores", "1", FIGURE, *SMOKE)
    assert differences(finished / "results/smoke", after / "results/smoke") == []
    tally.add(
        "a reference damaged in the middle", True, "the same, by the job that reads it; the rest goes on"
    )


@pytest.mark.parametrize("how", ["removed", "emptied", "cut short"])
def test_a_trace_is_missed_although_its_figure_is_there(finished, after, how, tally):
    path = after / TRACES / "fedgd.parquet"
    if how != "removed":
        path.write_bytes(path.read_bytes()[: 1000 if how == "cut short" else 0])
        done = run(after, "--cores", "1", FIGURE, *SMOKE, check=False)
        assert done.returncode != 0 and f"rm {path.relative_to(after)}" in done.stderr
        assert (after / "results/smoke/figures/fedsplit/fig1.svg").exists()
    path.unlink()
    run(after, "--cores", "1", FIGURE, *SMOKE)
    assert differences(finished / "results/smoke", after / "results/smoke") == []
    seen = "it is made again" if how == "removed" else "`… is damaged (…): rm …`; the figure stays"
    tally.add(f"a trace {how}", True, seen)
