"""Theorems 4.5, 4.8 and 4.11: where the printed bounds hold, pinned instances where they fail, and the repairs."""

import numpy as np
import pytest

from fedrepro import bounds
from fedrepro.algorithms.hyfdca import hyfdca
from fedrepro.problems.hyfdca import theorem


def mean_gap(name, lam, inner, rounds, seeds=6):
    runs = []
    for seed in range(seeds):
        made = theorem({"theorem": name, "lambda": lam, "n": 64, "m": 8, "noise": 0.3}, seed)
        ref = made.reference()
        clients = made.clients(ref)
        gap = made.measure("dual_gap", ref)
        gaps = [gap(clients.start)]
        steps = hyfdca(clients, inner=inner, local="theory", gamma="theorem", share="theorem")
        gaps += [gap(w) for _, w in zip(range(rounds), steps, strict=False)]
        runs.append(gaps)
    mean = np.mean(runs, axis=0)
    return bounds.case(name, lam, inner, 64, np.arange(rounds + 1.0), mean)


@pytest.mark.parametrize("name", ["4.5", "4.8", "4.11 C=2", "4.11 C=4"])
@pytest.mark.parametrize("lam", [0.01, 1.0])
def test_the_bounds_hold_for_small_lambda(name, lam):
    case = mean_gap(name, lam, 8, 100)
    assert case.excess("printed") <= 1 and case.mean[-1] < case.mean[0]


@pytest.mark.parametrize(
    ("name", "lam", "inner"), [("4.5", 100.0, 2), ("4.8", 100.0, 2), ("4.11 C=2", 100.0, 64)]
)
def test_an_instance_on_which_the_printed_bound_fails(name, lam, inner):
    case = mean_gap(name, lam, inner, 300)
    assert case.excess("printed") > 1.2
    assert case.excess("repaired") <= 1
    assert np.isfinite(case.repaired).any()
