"""Records: what a job is given is plain JSON, and comes back as it was."""

import json

import pytest

from fedrepro.experiments.experiment import Block, Experiment, Paper, Stop, at_scale, expand
from fedrepro.pipeline.config import ROOT, load

EXPERIMENT = Experiment(
    paper="p",
    name="p_e",
    problem="p.f",
    dataset="mnist",
    partition="cut",
    settings=({"kappa": 1, "tune": {"m": {"a": [1, 2.5]}}}, {"kappa": 10.0, "tune": {}}),
    varied=("kappa",),
    seeds=3,
)
BLOCK = Block(
    EXPERIMENT, "mine", "fedgd", ({"step": "1/L*"}, {"step": 0.1}), Stop(9, "gap", 1e-3, 2, 4), ("gap",), 500
)


def test_an_experiment_survives_json():
    assert Experiment.from_json(EXPERIMENT.to_json()) == EXPERIMENT


@pytest.mark.parametrize("stop", [Stop(5), Stop(9, "gap", "epsilon", 2, 4), Stop(9, below=0.1)])
def test_a_block_survives_json(stop):
    block = Block(EXPERIMENT, "mine", "fedgd", ({"step": [1e-4, 1]},), stop, ("gap", "value"))
    assert Block.from_json(block.to_json()) == block


def test_every_declared_block_survives_json():
    for scale in ("smoke", "paper"):
        for block in load({"scale": scale}, ROOT).blocks:
            assert Block.from_json(block.to_json()) == block
            assert Experiment.from_json(block.experiment.to_json()) == block.experiment


def test_the_json_is_the_same_in_whatever_order_a_record_was_filled():
    swapped = Experiment(**dict(reversed(list(json.loads(EXPERIMENT.to_json()).items()))))
    assert swapped.to_json() == EXPERIMENT.to_json()


def test_a_setting_is_named_by_what_varies():
    assert [EXPERIMENT.setting_name(s) for s in EXPERIMENT.settings] == ["kappa=1", "kappa=10.0"]
    assert Experiment("p", "p_e", "p.f", "synthetic", None, ({"d": 3},), (), 1).setting_name({"d": 3}) == "-"


def test_cells_are_settings_by_grid_points_by_seeds():
    assert BLOCK.cells == 2 * 2 * 3


def test_a_parameter_section_is_expanded_at_its_scale_in_the_order_of_json():
    section = {
        "step": {"grid": [1, 2], "smoke": [3], "source": "here"},
        "a": {"value": 7, "smoke": 5, "source": "here"},
        "tune": {"value": [1e-4, 1], "source": "here"},
    }
    assert at_scale(section["a"], "smoke") == 5 and at_scale(section["a"], "paper") == 7
    assert list(expand(section, "smoke")) == [{"a": 5, "step": 3, "tune": [1e-4, 1]}]
    points = list(expand(section, "paper"))
    assert points == [{"a": 7, "step": s, "tune": [1e-4, 1]} for s in (1, 2)]
    assert list(points[0]) == sorted(points[0])


def test_a_paper_knows_its_blocks_by_experiment():
    paper = Paper({"paper": "p"}, ROOT, "smoke", [BLOCK])
    assert paper.full(["e", "f"]) == ["p_e", "p_f"]
    assert paper.experiment_blocks("p_e") == [BLOCK] and paper.experiment_blocks("p_f") == []
