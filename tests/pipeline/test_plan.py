"""Which blocks share a job, and which data an experiment's settings ask for."""

import json

from fedrepro.experiments.experiment import Block
from fedrepro.pipeline.config import ROOT
from fedrepro.pipeline.plan import Plan


def test_blocks_share_a_job_at_scale_quick_and_where_the_yaml_says_so_at_scale_smoke():
    small, demo, whole = (
        Plan({"scale": scale, "papers": ["fedsplit", "arena"]}, ROOT) for scale in ("smoke", "quick", "paper")
    )
    assert whole.together() == {} and set(whole.alone()) == set(whole.experiments)
    assert set(demo.together()) == set(demo.experiments) and demo.alone() == []
    shared = small.together()
    assert "arena_smooth" in shared and not any(name.startswith("fedsplit") for name in shared)
    assert set(small.alone()) | set(shared) == set(small.experiments)
    listed = json.loads(small.listed(shared["arena_smooth"]))
    assert [Block.from_json(record) for record, _, _ in listed] == shared["arena_smooth"]
    assert [key for _, _, key in listed] == [small.block_key(b) for b in shared["arena_smooth"]]


def test_datasets_that_settings_name_are_inputs():
    plan = Plan({"scale": "paper", "papers": ["arena"]}, ROOT)
    files = plan.data(plan.experiments["arena_smooth"])
    assert files["online_news"] == "data/decoded/online-news/meta.json"
    assert not any("bowls" in path for path in files.values())  # drawn, not read
    assert plan.data(plan.experiments["arena_known"]) == {}
