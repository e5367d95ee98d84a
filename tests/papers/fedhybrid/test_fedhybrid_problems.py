"""The four setups: shapes, labels, sizes, and who may draw what."""

import numpy as np
import pytest

from fedrepro.datasets import Dataset, partition
from fedrepro.experiments.problem import Data
from fedrepro.papers.fedhybrid import problems


@pytest.fixture
def stored(monkeypatch, tmp_path):
    """A function that stores the clients of a setting, over datasets of the right kind without files: 506 x 13 numbers,
    letters for the mushrooms."""
    rng = np.random.default_rng(0)
    tables = {
        "boston": (rng.random((506, 13)) * 100, rng.random(506) * 45 + 5),
        "mushroom": (
            rng.integers(97, 101, (900, 22)).astype(np.uint8),
            (rng.random(900) < 0.48).astype(np.uint8),
        ),
    }
    tables["mushroom"][0][:100, 10] = ord("?")

    def load(name, root=None):
        X, y = tables[name]
        return Dataset(name, name, X, y, None, None, "standin", "0" * 64)

    monkeypatch.setattr(problems.datasets, "load", load)

    def store(name, scheme, **parameters) -> Data:
        path = tmp_path / f"{name}.npz"
        clients = [partition.build(load(name), scheme, seed, parameters) for seed in (0, 1)]
        partition.save(path, {"-": clients}, {})
        return Data(name, path)

    return store


def test_synthetic_least_squares_has_scaled_designs_and_the_paper_s_sizes():
    problem = problems.synthetic_least_squares({"n": 20, "d": 30, "sigma": 0.5, "rho": 0.0}, 3)
    high = problem.costs.bounds()[1]
    assert problem.costs.m == 20 and problem.costs.shape == (30,)
    assert high.max() / high.min() > 100  # eta_i ~ N(0, 1) squared
    again = problems.synthetic_least_squares({"n": 20, "d": 30, "sigma": 0.5, "rho": 0.0}, 3)
    np.testing.assert_array_equal(problem.costs.G, again.costs.G)


def test_synthetic_logistic_has_eleven_eight_and_one_clients():
    problem = problems.synthetic_logistic({"n": 20, "d": 30, "rho": 0.1}, 1)
    labels = [set(problem.costs.b[part]) for part in problem.costs.parts]
    assert labels == [{-1.0}] * 11 + [{1.0}] * 8 + [{-1.0, 1.0}]
    assert min(part.stop - part.start for part in problem.costs.parts) >= 50
    value = problem.costs.value(np.zeros((20, 30))).sum()
    assert np.log(value) == pytest.approx(np.log(20 * np.log(2)))  # where figure 3(b) starts
    assert problems.synthetic_logistic({"reading": "main text", "rho": 0.1}, 1).costs.shape == (99,)


def test_boston_clients_hold_runs_of_the_sorted_response(stored):
    setting, data = {"n": 8, "rho": 0.01, "normalise": "standard"}, stored("boston", "sorted_runs", clients=8)
    one, other = (problems.boston(setting, seed, data) for seed in (0, 1))
    assert one.costs.shape == (14,) and one.origin == "standin"
    assert not np.allclose(one.costs.G, other.costs.G)  # sizes are drawn
    X = problems.NORMALISED["standard"](problems.datasets.load("boston").X)
    first = X[partition.read(data.partition, 0).rows[0]]
    np.testing.assert_allclose(
        one.costs.G[0], first.T @ first / len(first) + 0.01 / 8 * np.eye(14), atol=1e-12
    )


@pytest.mark.parametrize("missing, rows", [("drop", 800), ("keep", 900)])
def test_mushroom_clients_have_one_label_but_the_last(stored, missing, rows):
    setting = {"n": 8, "rho": 0.1, "missing": missing, "normalise": "unit_rows"}
    data = stored("mushroom", "one_label_each", clients=8, missing=missing)
    problem = problems.mushroom(setting, 0, data)
    labels = [set(problem.costs.b[part]) for part in problem.costs.parts]
    assert labels == [{-1.0}] * 4 + [{1.0}] * 3 + [{-1.0, 1.0}]
    assert len(problem.costs.b) == rows
    lengths = np.concatenate([np.sum(a**2, axis=1) for a in problem.costs.A])
    np.testing.assert_allclose(lengths, 1.0)


def test_the_penalty_is_shared_so_that_the_sum_has_rho_once():
    a = problems.synthetic_least_squares({"n": 5, "d": 3, "sigma": 0.5, "rho": 0.0}, 0)
    b = problems.synthetic_least_squares({"n": 5, "d": 3, "sigma": 0.5, "rho": 2.0}, 0)
    np.testing.assert_allclose((b.costs.G - a.costs.G).sum(axis=0), 2.0 * np.eye(3), atol=1e-12)


def test_newton_clients_are_drawn_by_seed_and_kept_in_the_reference():
    refs = [
        problems.synthetic_least_squares({"n": 9, "d": 3, "sigma": 0.5, "rho": 0.1}, s).reference()
        for s in (0, 0, 1)
    ]
    assert (
        refs[0].constants["order"].tolist()
        == refs[1].constants["order"].tolist()
        != refs[2].constants["order"].tolist()
    )
    assert sorted(refs[0].constants["order"]) == list(range(9))
    assert refs[0].facts["residual"] < 1e-10


def test_shuffled_clients_have_the_same_rows_and_sizes():
    setting = {"n": 5, "d": 3, "rho": 0.1}
    one, other = (
        problems.synthetic_logistic(setting | {"clients": c}, 0).costs for c in ("unlike", "shuffled")
    )
    assert [len(a) for a in one.A] == [len(a) for a in other.A]
    pooled = [np.column_stack([np.concatenate(c.A), c.b]) for c in (one, other)]
    np.testing.assert_array_equal(*(rows[np.lexsort(rows.T)] for rows in pooled))
    assert all(len(set(other.b[part])) == 2 for part in other.parts)


def test_the_relative_gap_starts_at_one_and_ends_at_zero():
    problem = problems.synthetic_least_squares({"n": 5, "d": 3, "sigma": 0.5, "rho": 0.1}, 0)
    ref = problem.reference()
    relative = problem.measure("relative", ref)
    assert relative(problem.start, None) == 1.0
    assert relative(ref.optimum, None) == pytest.approx(0.0, abs=1e-20)
