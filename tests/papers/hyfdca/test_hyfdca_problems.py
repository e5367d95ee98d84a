import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from fedrepro import datasets
from fedrepro.datasets import partition
from fedrepro.experiments.reference import Reference
from fedrepro.papers.hyfdca import problems as hyfdca
from fedrepro.papers.hyfdca import readings as comparisons

TUNE = {
    "hyfdca": {"inner": [1, 5, 60]},
    "fedavg_hybrid": {"local_steps": [10], "a": [0.1, 1.0], "b": [1.0]},
    "hyfem": {"local_steps": [10], "a": [1.0], "b": [1.0], "mu": [0.01, 1.0]},
}
SETTING = {"clients": "3x2@0.5", "lambda": 0.01, "n": 120, "m": 8, "noise": 0.3}


def test_tuning_chooses_from_the_grid_once_for_all_seeds():
    tuned = SETTING | {"tune": TUNE, "tune_rounds": 20}
    refs = [hyfdca.synthetic(tuned, seed).reference() for seed in (0, 1)]
    table, winners = refs[0].facts["hyfdca tuning"], refs[0].winners
    assert table.shape == (3, 4) and table[:, 0].tolist() == [1, 5, 60]
    assert winners["hyfdca"]["loss"] == {"inner": table[np.argmin(table[:, 1]), 0]}
    assert winners["hyfdca"]["accuracy"]["inner"] in table[table[:, 2] == table[:, 2].min(), 0]
    assert {winners["hyfem"][aim]["mu"] for aim in ("gra", "loss", "accuracy")} <= {0.01, 1.0}
    assert winners == refs[1].winners and np.array_equal(table, refs[1].facts["hyfdca tuning"])


def test_a_tuned_run_takes_what_was_chosen():
    ref = Reference(winners={"hyfdca": {"gra": {"inner": 7}, "loss": {"inner": 3}}})
    chosen = hyfdca.synthetic(SETTING, 0).choose(
        hyfdca.hyfdca, {"tuned_for": "loss", "local": "practical"}, ref
    )
    assert chosen == {"inner": 3, "local": "practical"}


def test_tuning_and_results_use_different_validation_rows():
    problem = hyfdca.synthetic(SETTING | {"tune": TUNE, "tune_rounds": 1}, 0)
    tuning, results = (problem.validation(tuning=chosen)[0] for chosen in (True, False))
    assert len(tuning) + len(results) == len(problem.samples.labels)
    assert {tuple(r) for r in tuning}.isdisjoint({tuple(r) for r in results})
    untuned = hyfdca.synthetic(SETTING, 0)
    assert len(untuned.validation(tuning=False)[0]) == len(untuned.samples.labels)


def test_the_optimum_bounds_every_point():
    problem = hyfdca.synthetic(SETTING, 0)
    ref = problem.reference()
    loss = problem.measure("relative_loss", ref)
    assert 0 <= ref.facts["gap"] <= 1e-8
    assert loss(np.zeros(8), None) == pytest.approx(1 / ref.facts["primal"] - 1)
    assert min(loss(w, None) for w in np.random.default_rng(0).standard_normal((50, 8))) > -1e-7
    with pytest.raises(LookupError, match="accuracy"):
        problem.measure("acuracy", ref)


@pytest.mark.parametrize("name", ["mnist", "covtype", "news20"])
def test_real_data_become_unit_rows_with_signs(name, monkeypatch):
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((200, 30), density=0.3, rng=rng, format="csr") * 200
    y = rng.integers(1, 3, 200) if name != "news20" else rng.choice([-1, 1], 200)
    groups = np.repeat(np.arange(100), 2) if name == "news20" else None
    split = (np.arange(200) >= 150).astype(int) if name == "mnist" else None
    stored = X if name == "news20" else X.toarray()
    made = datasets.Dataset(name, name, stored, y, groups, split, "standin", "abc")
    monkeypatch.setattr(datasets, "load", lambda *_: made)
    hyfdca.prepared.cache_clear()
    how = {"mnist": ((2,), "bytes"), "covtype": ((2,), "min-max"), "news20": ((1,), "as stored")}[name]
    rows = np.arange(120, dtype=np.int32).tobytes()
    samples = hyfdca.prepared(name, "data", rows, 40, *how, "unit")
    hyfdca.prepared.cache_clear()
    lengths = np.sqrt(np.asarray(samples.X.multiply(samples.X).sum(axis=1))).ravel()
    assert np.allclose(lengths[lengths > 0], 1) and set(samples.y) == {-1.0, 1.0}
    assert len(samples.y) == 120 and 20 < len(samples.labels) <= 40
    assert samples.validation.shape[1] == samples.X.shape[1] <= 30
    assert samples.origin == "standin"


def test_copies_of_a_post_stay_on_one_side(monkeypatch):
    rng = np.random.default_rng(1)
    X = scipy.sparse.csr_array(np.repeat(rng.random((50, 20)), 4, axis=0))
    made = datasets.Dataset(
        "news20", "t", X, np.tile([1, -1], 100), np.repeat(np.arange(50), 4), None, "relative", "c"
    )
    monkeypatch.setattr(datasets, "load", lambda *_: made)
    hyfdca.prepared.cache_clear()
    rows = np.flatnonzero(~partition.held_out(made, hyfdca.HELD_OUT)).astype(np.int32)
    samples = hyfdca.prepared("news20", "data", rows.tobytes(), "all", (1,), "as stored", "unit")
    hyfdca.prepared.cache_clear()
    rows = {tuple(np.round(r, 9)) for r in samples.X.toarray()}
    assert rows.isdisjoint({tuple(np.round(r, 9)) for r in samples.validation.toarray()})
    assert len(samples.y) + len(samples.labels) == 200


def frame(**columns):
    return pd.DataFrame({"seed": 0, "status": "done", **columns})


def test_time_is_computation_latency_and_encryption():
    rows = frame(round=[2], seconds=[8.0], turns=[20], exchanges=[6], encryption_steps=[4], decryption_steps=[5],
                 slowest_encryptions=[1000], slowest_decryptions=[2000], additions=[300], decryptions=[2000])  # fmt: skip
    times = {"published": {"encrypt": 0.02, "decrypt": 0.01, "add": 0.001}}
    parts = comparisons.components(rows, 0.1, "published", times).iloc[0]
    assert parts.to_dict() == pytest.approx({"computation": 0.8, "latency": 0.6, "encryption": 20 + 20 + 0.3})
    fresh = {"here": times["published"] | {"refresh": 0.5}}
    assert comparisons.components(rows, 0.1, "here", fresh).iloc[0].encryption == pytest.approx(40.3 + 1000)
    vector = comparisons.components(rows, 0.1, "published, one a vector", times).iloc[0]
    assert vector.encryption == pytest.approx(4 * 0.02 + 5 * 0.01)
    assert comparisons.components(rows, 0.1, "none", times).iloc[0].encryption == 0


def test_scores_at_the_last_and_at_the_best_round():
    cells = frame(relative_loss=[3.0, 0.1, *[0.5] * 18], accuracy=[0.5, 0.9, *[0.8] * 18])
    assert comparisons.score(cells, "relative_loss", "last") == 0.5
    assert comparisons.score(cells, "relative_loss", "best") == 0.1
    assert comparisons.score(cells, "accuracy", "best") == pytest.approx(0.1)
    assert comparisons.score(cells.assign(status="diverged"), "relative_loss", "last") == np.inf
