"""The comparison figures: everyone at their best rates, a reader's own algorithm beside the paper's."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from fedrepro.figures import fco


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
    for name in fco.FOUR:
        found += cells(name, 0.3, client_rate=0.01, server_rate=1) + cells(
            name, 0.2, client_rate=0.1, server_rate=3
        )
    return pd.DataFrame(found + cells("mine", 0.4, pace=1) + cells("mine", 0.1, pace=2))


def test_every_algorithm_is_drawn_once_at_its_best_rates(rows):
    figure, axes = fco.tuned(rows, ("error", "loss", "density", "error"))
    labels = axes[0].get_legend_handles_labels()[1]
    assert len(labels) == 5 and labels[-1] == "mine pace=2"
    assert all("0.1" in label and "3" in label for label in labels[:4])
    drawn = {line.get_label(): line.get_ydata() for line in axes[2].get_lines()}
    np.testing.assert_allclose(drawn["mine pace=2"], 0.1)
    plt.close(figure)


def test_without_newcomers_there_are_the_four(rows):
    figure, axes = fco.tuned(rows[rows.algorithm.isin(fco.FOUR)], ("error", "loss", "density", "error"))
    assert len(axes[0].get_legend_handles_labels()[1]) == 4
    plt.close(figure)
