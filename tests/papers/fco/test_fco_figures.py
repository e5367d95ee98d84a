"""The comparison figures: everyone at their best rates, a reader's own algorithm beside the paper's."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from fedrepro.papers.fco.figures import choices
from fedrepro.papers.fco.figures import paper as fco


def cells(algorithm, level, **params):
    """Two seeds of a curve that falls to `level`."""
    return [
        {
            "algorithm": algorithm, "seed": seed, "round": t, "status": "done", "error": level + 0.5**t, "loss": level + 0.5**t,
            "density": level, "params": ",".join(f"{k}={v}" for k, v in params.items()),
            **{f"p_{k}": str(v) for k, v in params.items()},
        }
        for seed in range(2)
        for t in range(21)
    ]  # fmt: skip


@pytest.fixture
def rows():
    found = []
    for name in fco.FIVE:
        found += cells(name, 0.3, client_rate=0.01, server_rate=1) + cells(
            name, 0.2, client_rate=0.1, server_rate=3
        )
    return pd.DataFrame(found + cells("mine", 0.4, pace=1) + cells("mine", 0.1, pace=2))


def test_every_algorithm_is_drawn_once_at_its_best_rates(rows):
    figure, axes = fco.tuned(rows, ("error", "loss", "density", "error"))
    labels = axes[0].get_legend_handles_labels()[1]
    assert len(labels) == 6 and labels[-1] == "mine pace=2"
    assert all("0.1" in label and "3" in label for label in labels[:5])
    drawn = {line.get_label(): line.get_ydata() for line in axes[2].get_lines()}
    np.testing.assert_allclose(drawn["mine pace=2"], 0.1)
    plt.close(figure)


def test_without_newcomers_there_are_the_five(rows):
    figure, axes = fco.tuned(rows[rows.algorithm.isin(fco.FIVE)], ("error", "loss", "density", "error"))
    assert len(axes[0].get_legend_handles_labels()[1]) == 5
    plt.close(figure)


class Traces:
    """Results of one experiment."""

    def __init__(self, rows):
        self.rows = rows

    def traces(self, experiment):
        return self.rows


def test_every_pair_of_rates_in_the_band_and_every_setting_of_ones_own_is_a_mark(rows):
    rows["accuracy"] = 0.9
    outside = pd.DataFrame(cells("fedmid", 0.9, client_rate=1, server_rate=3)).assign(accuracy=0.5)
    figure = fco.fig12(Traces(pd.concat([rows, outside])))
    last = figure.axes[-1]
    marks = {line.get_label(): len(line.get_xdata()) for line in last.get_lines()}
    assert marks.pop("mine") == 4  # two settings of two seeds
    assert list(marks.values()) == [4] * 5  # a product of 0.01 and of 0.3, not of 3
    plt.close(figure)


def test_how_soon_shows_pairs_that_live_and_rings_the_tuned_one(rows):
    rows["f1"] = np.where(rows["round"] >= 5, 1.0, 0.5)
    rows.loc[(rows.p_client_rate == "0.01") & (rows.seed == 1), "status"] = "diverged"
    rows.loc[rows.algorithm == "fedmid", "f1"] = 0.5
    figure, ax = plt.subplots()
    choices.pairs(ax, rows, "f1", 1.0)
    lines = [line for line in ax.get_lines() if len(line.get_xdata())]  # not those for the legend
    marks = [line for line in lines if line.get_marker() in "os^vD" and line.get_markersize() == 5]
    rings = [line for line in lines if line.get_markersize() == 11]
    assert len(marks) == len(rings) == 5  # the pair that diverged in one seed is not there
    never = [line for line in marks if line.get_markerfacecolor() == "none"]
    assert len(never) == 1 and never[0].get_ydata()[0] > 20
    assert all(line.get_ydata()[0] == 5 for line in marks if line not in never)
    plt.close(figure)
