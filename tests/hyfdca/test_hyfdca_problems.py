import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from fedrepro import comparisons, datasets
from fedrepro.problems import hyfdca

TUNE = {
    "hyfdca": {"inner": [1, 5, 60]},
    "fedavg_hybrid": {"local_steps": [10], "a": [0.1, 1.0], "b": [1.0]},
    "hyfem": {"local_steps": [10], "a": [1.0], "b": [1.0], "mu": [0.01, 1.0]},
}
SETTING = {"clients": "3x2@0.5", "lambda": 0.01, "n": 120, "m": 8, "noise": 0.3}


def test_tuning_chooses_from_the_grid_once_for_all_seeds():
    tuned = SETTING | {"tune": TUNE, "tune_rounds": 20}
    refs = [hyfdca.synthetic(tuned, seed).reference() for seed in (0, 1)]
    table = refs[0]["hyfdca tuning"]
    assert table.shape == (3, 4) and table[:, 0].tolist() == [1, 5, 60]
    assert refs[0]["hyfdca inner, by loss"] == table[np.argmin(table[:, 1]), 0]
    assert refs[0]["hyfdca inner, by accuracy"] in table[table[:, 2] == table[:, 2].min(), 0]
    assert {refs[0][f"hyfem mu, by {aim}"] for aim in ("gra", "loss", "accuracy")} <= {0.01, 1.0}
    for key, value in refs[0].items():
        assert np.array_equal(value, refs[1][key])


def test_a_tuned_run_takes_what_was_chosen():
    ref = {"hyfdca inner, by gra": 7.0, "hyfdca inner, by loss": 3.0}
    clients = hyfdca.synthetic(SETTING, 0).clients(ref)
    assert clients.value("hyfdca inner", "tuned", "loss") == 3.0 and clients.value("hyfdca inner", 9) == 9


def test_aims_that_choose_the_same_point_share_its_run(tmp_path, monkeypatch):
    from fedrepro import reference, runner, trace
    from fedrepro.algorithms import fedavg_hybrid
    from fedrepro.config import Block

    calls = []

    def counted(clients, **params):
        calls.append(clients.value("fedavg_hybrid a", "tuned", params["tuned_for"]))
        yield from fedavg_hybrid.fedavg_hybrid(clients, **params)

    counted.__name__, counted.needs = "fedavg_hybrid", {"rectangles"}
    monkeypatch.setattr(runner.algorithms, "get", lambda _: counted)
    chosen = {"gra": 0.5, "loss": 0.1, "accuracy": 0.5}
    ref = {"primal": 0.5} | {f"fedavg_hybrid a, by {aim}": a for aim, a in chosen.items()}
    ref |= {f"fedavg_hybrid {n}, by {aim}": 1.0 for aim in chosen for n in ("b", "local_steps")}
    reference.save(tmp_path / "ref.npz", {("-", 0): ref})
    block = Block(
        paper="p", experiment="e", name="fedavg_hybrid", algorithm="fedavg_hybrid", problem="hyfdca.synthetic",
        dataset="synthetic", partition=None, settings=(SETTING,), varied=(), seeds=1,
        params=tuple({"tuned_for": aim} for aim in chosen), stop={"rounds": 3}, measures=("relative_loss",),
        mem_mb=1000,
    )  # fmt: skip
    runner.run_block(block, tmp_path / "ref.npz", tmp_path / "t.parquet")
    rows = trace.read(tmp_path / "t.parquet")
    assert calls == [0.5, 0.1] and set(rows.p_tuned_for) == set(chosen)
    losses = {aim: rows[rows.p_tuned_for == aim].relative_loss.tolist() for aim in chosen}
    assert losses["gra"] == losses["accuracy"] != losses["loss"]


def test_the_optimum_bounds_every_point():
    problem = hyfdca.synthetic(SETTING, 0)
    ref = problem.reference()
    loss = problem.measure("relative_loss", ref)
    assert 0 <= ref["gap"] <= 1e-8
    assert loss(np.zeros(8)) == pytest.approx(1 / ref["primal"] - 1)
    assert min(loss(w) for w in np.random.default_rng(0).standard_normal((50, 8))) > -1e-7
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
    samples = hyfdca.prepared(name, "data", 120, 40)
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
    samples = hyfdca.prepared("news20", "data", 1000, 1000)
    hyfdca.prepared.cache_clear()
    rows = {tuple(np.round(r, 9)) for r in samples.X.toarray()}
    assert rows.isdisjoint({tuple(np.round(r, 9)) for r in samples.validation.toarray()})
    assert len(samples.y) + len(samples.labels) == 200


def frame(**columns):
    return pd.DataFrame({"seed": 0, "status": "done", **columns})


def test_time_is_computation_latency_and_encryption():
    rows = frame(round=[2], seconds=[8.0], turns=[20], exchanges=[6], encryption_steps=[4], decryption_steps=[5],
                 slowest_encryptions=[1000], slowest_decryptions=[2000], additions=[300])  # fmt: skip
    times = {"published": {"encrypt": 0.02, "decrypt": 0.01, "add": 0.001}}
    parts = comparisons.components(rows, 0.1, "published", times).iloc[0]
    assert parts.to_dict() == pytest.approx({"computation": 0.8, "latency": 0.6, "encryption": 20 + 20 + 0.3})
    vector = comparisons.components(rows, 0.1, "published, one a vector", times).iloc[0]
    assert vector.encryption == pytest.approx(4 * 0.02 + 5 * 0.01)
    assert comparisons.components(rows, 0.1, "none", times).iloc[0].encryption == 0


def test_scores_at_the_last_and_at_the_best_round():
    cells = frame(relative_loss=[3.0, 0.1, *[0.5] * 18], accuracy=[0.5, 0.9, *[0.8] * 18])
    assert comparisons.score(cells, "relative_loss", "last") == 0.5
    assert comparisons.score(cells, "relative_loss", "best") == 0.1
    assert comparisons.score(cells, "accuracy", "best") == pytest.approx(0.1)
    assert comparisons.score(cells.assign(status="diverged"), "relative_loss", "last") == np.inf
