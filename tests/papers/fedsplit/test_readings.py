"""What FedSplit's claims and figures read off traces."""

import numpy as np
import pandas as pd
import pytest

from fedrepro.papers.fedsplit.readings import ROUNDING, floors, rounds_to


def trace(gaps, status="done", every=1):
    labels = {"setting": "-", "algorithm": "fedsplit", "params": "", "seed": 0, "data_origin": "synthetic"}
    return pd.DataFrame({"round": every * np.arange(len(gaps)), "gap": gaps}).assign(**labels, status=status)


def test_rounds_between_measurements_are_in_proportion_to_the_logarithm():
    cells = trace(10.0 ** -np.arange(5.0), every=20)
    cells = cells.assign(relative=cells.gap)
    assert rounds_to(cells, 1e-2) == pytest.approx(40)
    assert rounds_to(cells, 10**-2.5) == pytest.approx(50)
    assert rounds_to(cells, 1.0) == 0
    assert rounds_to(cells, 1e-9) == np.inf


def test_a_floor_is_where_a_curve_stays_and_nothing_is_below_rounding():
    stays, falls, arrives = (
        0.1 ** np.minimum(np.arange(101.0), 5),
        0.8 ** np.arange(101.0),
        0.1 ** np.arange(101.0),
    )
    found = [floors(trace(gaps)).iloc[0] for gaps in (stays, falls, arrives)]
    assert [bool(f.falling) for f in found] == [False, True, False]
    assert found[0].floor == pytest.approx(1e-5)
    assert found[2].floor == ROUNDING
    lost = floors(trace(2.0 ** np.arange(30.0), "diverged")).iloc[0]
    assert lost.floor == np.inf and not lost.falling
