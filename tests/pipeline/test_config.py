"""The configuration: what is refused, and in which words."""

import os
import shutil

import pytest
import yaml

from fedrepro.pipeline.config import ROOT, Block, ConfigError, load
from fedrepro.pipeline.plan import Plan


@pytest.fixture
def project(tmp_path):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "results").mkdir()
    return tmp_path


def change(project, edit, name="papers/fedsplit.yaml"):
    path = project / "config" / name
    document = yaml.safe_load(path.read_text())
    edit(document)
    path.write_text(yaml.safe_dump(document))


def refusal(project, overrides=None) -> str:
    with pytest.raises(ConfigError) as error:
        Plan({"papers": ["fedsplit"], **(overrides or {})}, project)
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
def test_ours_is_valid_at_every_scale(scale):
    assert Plan({"scale": scale}, ROOT).blocks


def test_every_parameter_has_a_source():
    for path in (ROOT / "config/papers").glob("*.yaml"):
        document = yaml.safe_load(path.read_text())

        def check(node, path=path):
            if isinstance(node, dict):
                if "value" in node or "grid" in node:
                    assert node.get("source"), f"{path}: {node}"
                for child in node.values():
                    check(child)

        check(document["experiments"])


def test_a_misspelt_top_key_names_file_key_and_nearest(project):
    change(project, lambda c: c.update(scael="quick"), "config.yaml")
    message = refusal(project)
    assert "config.yaml" in message and "'scael'" in message
    change(project, lambda c: c.pop("scale"), "config.yaml")
    assert "did you mean 'scale'?" in refusal(project)


def test_a_misspelt_override_is_refused(project):
    assert "unknown key 'scal'" in refusal(project, {"scal": "quick"})


def test_a_misspelt_parameter_key(project):
    change(project, lambda p: p["experiments"]["fig1"]["parameters"]["m"].update(vlaue=3))
    message = refusal(project)
    assert "'vlaue'" in message and "experiments.fig1.parameters.m" in message


def test_an_unknown_scale(project):
    assert "'huge' is not one of" in refusal(project, {"scale": "huge"})


def test_an_unknown_paper(project):
    assert "no paper 'fedsplt'; did you mean 'fedsplit'?" in refusal(project, {"papers": ["fedsplt"]})


def test_an_unknown_algorithm(project):
    change(project, lambda p: p["experiments"]["fig1"]["algorithms"].update(fedspilt={}))
    message = refusal(project)
    assert "experiments.fig1.algorithms.fedspilt" in message and "did you mean 'fedsplit'?" in message


def test_an_unknown_hyperparameter(project):
    entry = {"value": 2, "source": "a test"}
    edit = lambda p: p["experiments"]["fig1"]["algorithms"]["fedgd"]["parameters"].update(locl_steps=entry)  # noqa: E731
    change(project, edit)
    assert "'fedgd' has no parameter 'locl_steps'; did you mean 'local_steps'?" in refusal(project)


def test_a_missing_hyperparameter(project):
    change(project, lambda p: p["experiments"]["theorem2"]["algorithms"].update(fedsplit_regularised={}))
    change(project, lambda p: p["experiments"]["theorem2"]["stop"].pop("below"))
    assert "needs a value for 'epsilon'" in refusal(project)


def test_a_wrong_stepsize(project):
    entry = {"value": "1/M*", "source": "a test"}
    change(
        project, lambda p: p["experiments"]["fig1"]["algorithms"]["fedsplit"]["parameters"].update(step=entry)
    )
    assert "'1/M*' is not a stepsize: a number above 0, or" in refusal(project)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_non_finite_parameter(project, value):
    change(project, lambda p: p["experiments"]["fig1"]["parameters"]["sigma2"].update(value=value))
    message = refusal(project)
    assert "experiments.fig1.parameters.sigma2.value" in message and "not a finite number" in message


def test_an_algorithm_on_a_problem_without_its_oracle(project):
    change(project, lambda p: p["experiments"]["fig2b"]["algorithms"].update(fedgd_limit={}))
    message = refusal(project)
    assert "'fedgd_limit' needs the oracle hessian" in message and "fedsplit.femnist_one_vs_all" in message


def test_an_unknown_problem(project):
    change(project, lambda p: p["experiments"]["fig1"].update(problem="fedsplit.least"))
    assert "no problem 'least' in papers/fedsplit" in refusal(project)


def test_an_unknown_experiment_in_a_figure(project):
    change(project, lambda p: p["figures"]["fig1"].update(experiments=["fig11"]))
    assert "figures.fig1: no experiment 'fig11'; did you mean 'fig1'?" in refusal(project)


def test_an_unmeasured_stop_metric(project):
    change(project, lambda p: p["experiments"]["fig3"]["stop"].update(metric="gasp"))
    assert "metric 'gasp' is not measured; did you mean 'gap'?" in refusal(project)


def test_broken_yaml_names_the_line(project):
    (project / "config/papers/fedsplit.yaml").write_text("paper: fedsplit\ntitle: [unclosed\n")
    assert "fedsplit.yaml, line" in refusal(project)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_results_folder(project):
    (project / "results").chmod(0o500)
    assert "results: not writable" in refusal(project)


def test_a_results_folder_that_is_a_file(project):
    (project / "results").rmdir()
    (project / "results").write_text("")
    assert "results: not a folder" in refusal(project)


def test_blocks_survive_json():
    for block in load({"scale": "smoke"}, ROOT).blocks:
        assert Block.from_json(block.to_json()) == block


def test_scales_differ_where_they_say_so():
    small, full = (load({"scale": s, "papers": ["fedsplit"]}, ROOT) for s in ("smoke", "paper"))

    def first(config):
        return config.papers["fedsplit"].experiment_blocks("fedsplit_fig1")[0].experiment.settings[0]

    assert first(full) == {"m": 25, "d": 100, "n": 500, "sigma2": 0.25, "start": "zero"}
    assert first(small)["m"] < 25
