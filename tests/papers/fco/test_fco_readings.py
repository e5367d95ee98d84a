"""The numbers that figures and claims of federated composite optimisation share."""

import numpy as np
import pandas as pd

from fedrepro.papers.fco.readings import settled, winners


def test_the_best_point_of_a_grid_is_the_one_that_lasts():
    """A point that diverged for one seed cannot win, however good its other seeds are."""
    cells = []
    for rate, seed, values, status in (
        ("0.1", 0, [1.0, 0.1, 0.0, 0.0], "done"),
        ("0.1", 1, [1.0, 9.0, 1e9, np.inf], "diverged"),
        ("0.01", 0, [1.0, 0.5, 0.3, 0.2], "done"),
        ("0.01", 1, [1.0, 0.5, 0.4, 0.3], "done"),
        ("0.001", 0, [1.0, 0.9, 0.9, 0.8], "done"),
        ("0.001", 1, [1.0, 0.9, 0.9, 0.8], "done"),
    ):
        cells += [
            {"algorithm": "a", "p_client_rate": rate, "p_server_rate": "1", "seed": seed, "round": t, "error": v, "status": status}
            for t, v in enumerate(values)
        ]  # fmt: skip
    rows = pd.DataFrame(cells)
    assert winners(rows, "error", 2) == {"a": ("0.01", "1")}
    hit = settled(rows, "error", lambda e: e <= 0.5, hold=2)
    assert hit["0.01", "1", 0] == 1 and hit["0.001", "1", 0] == np.inf and hit["0.1", "1", 1] == np.inf


def test_ties_go_to_the_first_or_to_the_last():
    rows = pd.DataFrame(
        {"algorithm": "a", "p_client_rate": rate, "p_server_rate": "1", "seed": 0, "round": t, "f1": f1, "status": "done"}
        for rate, f1 in (("0.001", 0.5), ("0.01", 1.0), ("0.1", 1.0))
        for t in range(3)
    )  # fmt: skip
    assert winners(rows, "f1", 2, highest=True) == {"a": ("0.01", "1")}
    assert winners(rows, "f1", 2, highest=True, late=True) == {"a": ("0.1", "1")}
