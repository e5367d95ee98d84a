"""When agents renew their eigenpairs."""

import pytest

from fedrepro.algorithms.parts.renewals import rule


def renewed(due, rounds, norms=()):
    return [t for t in range(1, rounds + 1) if due(t, list(norms[: t - 1]))]


def test_fibonacci_renewals():
    assert renewed(rule("fibonacci", 300), 900) == [1, 2, 4, 7, 12, 20, 33, 54, 88, 143, 232, 376, 675]
    # C_j passes n − 1 = 299 at 376; from there on they are 299 apart
    assert renewed(rule("fibonacci", 8), 30) == [1, 2, 4, 7, 14, 21, 28]


def test_periodic_once_and_always():
    assert renewed(rule("periodic", 9, period=5), 16) == [1, 5, 10, 15]
    assert renewed(rule("once", 9), 50) == [1]
    assert renewed(rule("always", 9), 4) == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="fibonacci"):
        rule("never", 9)


def test_gradient_norm_renewals_as_printed_and_reversed():
    norms = [10.0, 9.0, 7.0, 6.5, 6.4]  # falls of 1, 2, 0.5, 0.1
    # printed: at t = 4 the last fall (2) was greater than the one before (1)
    assert renewed(rule("gradient_norm", 100), 6, norms) == [1, 4]
    assert renewed(rule("gradient_norm", 100, reverse=True), 6, norms) == [1, 5, 6]
    assert renewed(rule("gradient_norm", 100, b=0.25, reverse=True), 6, norms) == [1, 6]
    steady = [100.0 - t for t in range(40)]
    assert renewed(rule("gradient_norm", 8), 20, steady) == [1, 9, 17]  # after n iterations in any case
