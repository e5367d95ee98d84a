"""What the comparison figures draw."""

import matplotlib.pyplot as plt
import pandas as pd

from fedrepro.papers.shed.figures.curves import curve
from fedrepro.papers.shed.figures.paper import IMAGES
from fedrepro.reporting import panels


def cells(algorithm, lengths, params=""):
    """One cell per seed, which may end at different rounds."""
    return pd.DataFrame(
        [
            {"algorithm": algorithm, "params": params, "seed": seed, "status": "done", "round": t,
             "exchanges": 2 * t, "vectors": 2.0 * t + seed, "gap": 10.0**-t}
            for seed, length in enumerate(lengths)
            for t in range(length)
        ]
    )  # fmt: skip


def test_a_readers_own_algorithm_is_drawn_once_for_each_of_its_settings():
    rows = pd.concat([cells("giant", [4]), cells("mine", [3], "b=1"), cells("mine", [3], "b=2")])
    _, ax = plt.subplots()
    panels.newcomers(ax, rows, "gap", IMAGES, draw=curve, x="vectors")
    assert [line.get_label() for line in ax.lines] == ["mine b=1", "mine b=2"]
    plt.close("all")


def test_seeds_that_converged_earlier_stay_where_they_ended():
    _, ax = plt.subplots()
    curve(ax, cells("giant", [3, 5]), "exchanges")
    (line,) = ax.lines
    assert list(line.get_xdata()) == [0, 2, 4, 6, 8]
    assert line.get_ydata()[-1] == (1e-2 + 1e-4) / 2  # the median of where the two are
    plt.close("all")
