"""What the page's chart is given: the numbers of the traces, thinned, and nothing else."""

import base64
import zlib

import numpy as np
import pandas as pd

from fedrepro.reporting import explorer


def rows(seeds=3, rounds=200, algorithms=("fedgd",), params=("step=1",), diverged=()) -> pd.DataFrame:
    cells = []
    for algorithm in algorithms:
        for i, param in enumerate(params):
            for seed in range(seeds):
                t = np.arange(rounds + seed)  # one seed runs longer than the other
                cells.append(
                    pd.DataFrame(
                        {
                            "setting": "-", "algorithm": algorithm, "params": param, "seed": seed, "round": t,
                            "status": "diverged" if param in diverged else "done", "gap": (seed + 1) * 10.0 ** (i - t / 50.0),
                            "floats_down": 4 * t, "floats_up": 2 * t, "exchanges": t, "gradients": t**2, "hessians": 0 * t,
                            "seconds": 0.01 * t,
                        }
                    )
                )  # fmt: skip
    return pd.concat(cells, ignore_index=True)


def empty() -> explorer.Columns:
    return explorer.Columns(clocks=explorer.Columns())


def decoded(columns: explorer.Columns) -> np.ndarray:
    planes = np.frombuffer(zlib.decompress(base64.b64decode(columns.text())), np.uint8).reshape(3, -1)
    return np.ascontiguousarray(np.pad(planes.T, ((0, 0), (1, 0)))).view("<f4").ravel()


def test_the_numbers_are_those_of_the_traces():
    columns = empty()
    (curve,), left = explorer.experiment(rows(), ["gap"], columns)
    data, n = decoded(columns), curve["points"]
    assert left == 0 and curve["seeds"] == 3 and curve["ended"] == {"done": 3}
    at = data[curve["x"]["round"] :][:n]
    assert at[0] == 0 and at[-1] == 199 and n < 60
    middle, low, high = (data[start:][:n] for start in curve["y"]["gap"])
    for values, factor in ((middle, 2), (low, 1), (high, 3)):
        assert np.allclose(values, factor * 10.0 ** (-at / 50), rtol=2e-5)
    assert curve["x"]["floats"] == [6.0, 0.0] and curve["x"]["exchanges"] == [1.0, 0.0]
    assert np.allclose(data[curve["x"]["gradients"] :][:n], at**2, rtol=2e-5)
    assert "hessians" not in curve["x"]
    assert np.allclose(decoded(columns.clocks)[curve["x"]["seconds"] :][:n], 0.01 * at, rtol=2e-5)


def test_numbers_lose_their_last_byte_only():
    values = np.array([0.0, -1.5, 1e-30, 3.4e38, 1 / 3, 123457.0, np.inf, -np.inf, np.nan])
    columns = empty()
    columns.add(values)
    assert np.allclose(decoded(columns), values, rtol=2e-5, atol=0, equal_nan=True)


def test_a_legend_says_what_differs():
    (one, other), _ = explorer.experiment(
        rows(params=("step=1,local_steps=2", "step=1,local_steps=5")), ["gap"], empty()
    )
    assert (one["told"], other["told"]) == ("local steps 2", "local steps 5")
    assert one["params"] == "step 1, local steps 2"


def test_of_a_large_grid_those_that_end_lowest_are_kept():
    params = tuple(f"step={i}" for i in range(100))
    table = rows(seeds=1, rounds=4, algorithms=("fedgd", "fedprox"), params=params, diverged=("step=0",))
    curves, left = explorer.experiment(table, ["gap"], empty())
    assert len(curves) == explorer.MOST_CURVES and left == 200 - explorer.MOST_CURVES
    kept = {c["params"] for c in curves if c["algorithm"] == "FedGD"}
    assert kept == {f"step {i}" for i in range(1, explorer.MOST_CURVES // 2 + 1)}


def test_a_spike_in_thousands_of_rounds_stays():
    rounds = np.arange(20000.0)
    values = np.where(np.abs(rounds - 12000) < 60, 50.0, 1.0)
    seen = explorer.visible(rounds, [values]) > 1
    assert values[seen].max() == 50.0 and seen.sum() < explorer.MOST_POINTS


def test_an_experiment_that_does_not_fit_is_drawn_more_coarsely(monkeypatch):
    table = rows(seeds=1, rounds=300)
    table["gap"] *= 1 + 0.3 * np.sin(np.arange(len(table)) ** 2)
    fine, coarse = empty(), empty()
    explorer.experiment(table, ["gap"], fine)
    monkeypatch.setattr(explorer, "MOST_BYTES", 0.7 * len(fine.text()))
    (curve,), _ = explorer.experiment(table, ["gap"], coarse)
    assert len(coarse.text()) < 0.8 * len(fine.text()) and curve["points"] > 20
