"""References: saved and read back, winners included."""

import numpy as np
import pytest

from federations import least_squares, linear_model
from fedrepro.experiments import reference
from fedrepro.experiments.reference import Reference, solve

TABLE = {
    ("kappa=1", 0): Reference(
        optimum=np.arange(6.0).reshape(2, 3),
        constants={"l*": 0.1, "L*": 2.5, "order": np.array([2, 0, 1])},
        facts={"value": 3.0, "hyfdca tuning": np.eye(2)},
        winners={"hyfdca": {"gra": {"inner": 5}, "loss": {"inner": 60, "a": 0.5, "local": "theory"}}},
    ),
    ("kappa=1", 1): Reference(constants={"l*": 0.2}),
    ("kappa=10,a=x", 0): Reference(),
}


def test_a_table_survives_its_file(tmp_path):
    reference.save(tmp_path / "sub/r.npz", TABLE)
    found = reference.read(tmp_path / "sub/r.npz")
    assert list(found) == list(TABLE)
    for key, wanted in TABLE.items():
        np.testing.assert_equal(found[key].optimum, wanted.optimum)
        np.testing.assert_equal(found[key].constants, wanted.constants)
        np.testing.assert_equal(found[key].facts, wanted.facts)
        assert found[key].winners == wanted.winners
    first = found["kappa=1", 0]
    assert isinstance(first.constants["l*"], float)
    assert isinstance(first.winners["hyfdca"]["gra"]["inner"], int)  # as the algorithm wants it


def test_nothing_is_pickled(tmp_path):
    reference.save(tmp_path / "r.npz", TABLE)
    with np.load(tmp_path / "r.npz", allow_pickle=False) as file:
        assert not any(file[name].dtype.hasobject for name in file.files)


@pytest.mark.parametrize("costs", [least_squares, linear_model])
def test_solve_gives_the_optimum_its_constants_and_a_certificate(costs):
    costs = costs()
    start = np.ones(costs.shape)
    found = solve(costs, start)
    assert found.constants["D2"] == pytest.approx(np.sum((start - found.optimum) ** 2))
    assert set(found.constants) == {"l*", "L*", "l_F", "L_F", "D2"} and set(found.facts) == {
        "value",
        "residual",
    }
    rows = np.broadcast_to(found.optimum, (costs.m, *costs.shape))
    assert found.facts["value"] == pytest.approx(costs.value(rows).sum())
    assert found.facts["residual"] < 1e-9
    assert found.winners == {}


def test_two_references_share_nothing():
    one, other = Reference(), Reference()
    one.constants["l*"] = 1.0
    one.winners["a"] = {}
    assert other.constants == {} and other.winners == {}
