"""The library on a reader's own arrays, as the README shows it."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import fedrepro
from fedrepro.algorithms import algorithm

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def arrays():
    rng = np.random.default_rng(3)
    X = [rng.standard_normal((n, 4)) for n in (9, 14, 11)]
    return X, [np.sign(x[:, 0] + 0.8 * rng.standard_normal(len(x))) for x in X]


@pytest.mark.parametrize("loss", ["least_squares", "logistic"])
def test_the_optimum_is_that_of_the_mean_of_the_clients(arrays, loss):
    X, y = arrays
    clients = fedrepro.Clients.from_arrays(X, y, loss=loss, ridge=0.1)
    slope = {"least_squares": lambda u, b: u - b, "logistic": lambda u, b: -b / (1 + np.exp(b * u))}[loss]
    x = clients.optimum
    gradient = sum(a.T @ slope(a @ x, b) / len(b) for a, b in zip(X, y, strict=True)) / len(X) + 0.1 * x
    assert np.abs(gradient).max() < 1e-10
    history = fedrepro.run("fedsplit", clients, rounds=120)
    assert history["gap"][-1] < 1e-10 and np.allclose(history["x"], x, atol=1e-4)
    assert history["floats_down"][-1] == 120 * 3 * 4 and history["round"][-1] == 120


def test_sparse_is_dense_and_every_run_counts_from_zero(arrays):
    X, y = arrays
    dense, thin = (fedrepro.Clients.from_arrays(k, y, loss="logistic", ridge=0.1)
                   for k in (X, [sparse.csr_array(a) for a in X]))  # fmt: skip
    one, two, again = (fedrepro.run("fedgd", c, rounds=5, step="1/L*") for c in (dense, thin, dense))
    assert np.allclose(one["gap"], two["gap"], rtol=1e-9)
    assert (one["gap"] == again["gap"]).all() and (one["gradients"] == again["gradients"]).all()


def test_a_method_of_ones_own(arrays):
    @algorithm(needs={"gradient"})
    def mine(clients, *, step=0.1):
        x = clients.start
        while True:
            clients.receive(x)
            x = x - step * clients.average(clients.gradients(x))
            yield x

    clients = fedrepro.Clients.from_arrays(*arrays, loss="logistic", ridge=0.1)
    assert (
        fedrepro.run(mine, clients, rounds=50)["gap"][-1] < fedrepro.run(mine, clients, rounds=5)["gap"][-1]
    )


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ({"algorithm": "fedsplt"}, "no algorithm 'fedsplt'"),
        ({"algorithm": "fedsplit", "stp": 1}, "no parameter 'stp'"),
        ({"algorithm": "hyfdca"}, "needs the oracle"),
    ],
)
def test_mistakes_are_sentences(arrays, words, fault):
    clients = fedrepro.Clients.from_arrays(*arrays, ridge=0.1)
    with pytest.raises((LookupError, TypeError), match=fault):
        fedrepro.run(words.pop("algorithm"), clients, rounds=1, **words)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda X, y: (X, y[:2], {}), "one entry for every client"),
        (lambda X, y: (X, [b[:-1] for b in y], {}), "as many rows"),
        (lambda X, y: (X, [b * 2 for b in y], {"loss": "logistic"}), "labels -1 and 1"),
        (lambda X, y: (X, y, {"loss": "hinge"}), "none of"),
    ],
)
def test_bad_arrays_are_refused(arrays, change, fault):
    X, y, more = change(*arrays)
    with pytest.raises(ValueError, match=fault):
        fedrepro.Clients.from_arrays(X, y, **more)


def test_the_readmes_lines_run_with_the_librarys_own_dependencies(tmp_path):
    """Neither pandas nor Arrow nor anything else of the pipeline; the picture is the reader's Matplotlib."""
    example = re.search(r"```python\n(import matplotlib.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    absent = (
        "pandas",
        "pyarrow",
        "sklearn",
        "nilearn",
        "yaml",
        "jsonschema",
        "snakemake",
        "threadpoolctl",
        "phe",
        "tenseal",
    )
    head = f"import sys\nfor name in {absent}:\n    sys.modules[name] = None\n"
    head += "import matplotlib\nmatplotlib.use('Agg')\n"
    (tmp_path / "lines.py").write_text(head + example)
    subprocess.run([sys.executable, "lines.py"], cwd=tmp_path, check=True)
    assert list(tmp_path.glob("*.png"))
