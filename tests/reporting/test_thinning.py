"""Lines keep what can be seen."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fedrepro.maths.kernels.thinning import weights
from fedrepro.reporting.thinning import kept

VALUES = arrays(float, st.integers(2, 60), elements=st.floats(-100, 100))


def distances(x, y, x0, y0, x1, y1) -> np.ndarray:
    """Of points to a segment."""
    dx, dy = x1 - x0, y1 - y0
    length = dx * dx + dy * dy
    along = np.clip(((x - x0) * dx + (y - y0) * dy) / length, 0.0, 1.0) if length > 0 else 0.0
    return np.hypot(x - x0 - along * dx, y - y0 - along * dy)


@given(VALUES, st.sampled_from([0.1, 1.0, 10.0]))
def test_nothing_left_out_lies_farther_than_the_tolerance(y, tolerance):
    x = np.linspace(0, 100, len(y))
    keep = kept(x, y, tolerance)
    places = np.flatnonzero(keep)
    assert places[0] == 0 and places[-1] == len(y) - 1
    for first, last in pairwise(places):
        between = slice(first + 1, last)
        away = distances(x[between], y[between], x[first], y[first], x[last], y[last])
        assert np.all(away <= tolerance + 1e-9)


@given(VALUES)
def test_a_coarser_tolerance_keeps_fewer_of_the_same_points(y):
    x = np.linspace(0, 100, len(y))
    fine = weights(x, y, 0.1)
    for tolerance in (1.0, 10.0):
        assert np.array_equal(fine > tolerance, kept(x, y, tolerance))


def test_a_straight_line_is_its_ends_and_a_spike_stays():
    x = np.arange(1000.0)
    assert kept(x, 3 * x, 0.1).sum() == 2
    spike = np.zeros(1000)
    spike[500] = 50.0
    assert kept(x, spike, 0.1)[500]
    assert kept(np.zeros(0), np.zeros(0), 0.1).sum() == 0
