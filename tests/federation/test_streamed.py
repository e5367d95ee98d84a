"""Clients beyond memory: the same bits as in memory, within a budget."""

import subprocess
import sys

import numpy as np
import pytest

import fedrepro
from fedrepro.datasets.readers.clients import ClientRows
from fedrepro.federation import streamed
from fedrepro.maths.streamed import clients_together

METHODS = {
    "fedgd": {"local_steps": 2},
    "scaffold": {},
    "fednew": {},
    "local_newton": {},
    "fedsplit": {},
    "dane": {},
}


def arrays(m, d, sizes):
    rng = np.random.default_rng(m)
    X = [rng.standard_normal((rng.choice(sizes), d)) for _ in range(m)]
    return X, [np.where(x[:, 0] + 0.8 * rng.standard_normal(len(x)) > 0, 1.0, -1.0) for x in X]


@pytest.mark.parametrize("together", [1, 3, 8])
@pytest.mark.parametrize("loss", ["least_squares", "logistic"])
@pytest.mark.parametrize(("m", "d", "sizes"), [(23, 7, (11, 12, 17)), (19, 1, (9, 10)), (16, 12, (20,))])
def test_not_a_bit_hangs_on_what_is_in_memory(monkeypatch, m, d, sizes, loss, together):
    """Points, gaps, the optimum, the constants of stepsize rules and the counts."""
    X, y = arrays(m, d, sizes)
    whole = fedrepro.Clients.from_arrays(X, y, loss=loss, ridge=0.1)
    monkeypatch.setattr(streamed, "clients_together", lambda *sizes: together)
    parts = fedrepro.StreamedClients.from_arrays(X, y, loss=loss, ridge=0.1)
    assert np.array_equal(whole.optimum, parts.optimum) and whole.constants == parts.constants
    for name, parameters in METHODS.items():
        one, two = (fedrepro.run(name, c, rounds=4, **parameters) for c in (whole, parts))
        assert one["gap"][-1] < one["gap"][0]
        for column in one:
            assert np.array_equal(one[column], two[column]), (name, column)


def test_from_a_file_and_by_single_client_they_are_the_same(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9, 6, 3)), rng.standard_normal((9, 6))
    for name, array in (("X", X), ("y", y)):
        np.save(tmp_path / f"{name}.npy", array)
    files = [ClientRows(tmp_path / f"{name}.npy") for name in "Xy"]
    one = fedrepro.run("fedgd", fedrepro.Clients.from_arrays(X, y), rounds=3)
    two = fedrepro.run("fedgd", fedrepro.StreamedClients.from_arrays(*files), rounds=3)
    assert np.array_equal(one["x"], two["x"])
    with pytest.raises(IndexError, match="none of number 9"):
        files[0][9]


def test_the_budget_decides_how_many_are_in_memory():
    assert clients_together(10, 50, 100, 2.0) == 10
    few, more = (clients_together(100_000, 50, 100, gb) for gb in (1.7, 2.0))
    assert 0 < few < more < 100_000
    with pytest.raises(MemoryError, match=r"memory_gb = 0\.5 is too little"):
        clients_together(100_000, 50, 100, 0.5)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda X, y: (X, y[:2], {}), "3 clients and y has 2"),
        (lambda X, y: (X, [*y[:2], y[2][:-1]], {}), r"X\[2\] has the shape"),
        (lambda X, y: (X, [b * 2 for b in y], {"loss": "logistic"}), "labels -1 and 1"),
        (lambda X, y: (X, y, {"loss": "hinge"}), "none of"),
        (lambda X, y: (X, [*y[:2], y[2][:0]], {}), "client 2 of 3 has no rows"),
    ],
)
def test_bad_arrays_are_refused(change, fault):
    X, y, more = change(*arrays(3, 4, (9,)))
    with pytest.raises(ValueError, match=fault):
        fedrepro.StreamedClients.from_arrays(X, y, **more)


def test_without_a_reference_there_is_no_gap():
    X, y = arrays(3, 4, (9,))
    clients = fedrepro.StreamedClients.from_arrays(X, y, reference=False)
    history = fedrepro.run("fedgd", clients, rounds=2, step=0.1)
    assert np.isnan(history["gap"]).all() and history["gradients"][-1] == 6


PEAK = """
import sys
import numpy as np
import fedrepro

m, memory_gb = int(sys.argv[1]), float(sys.argv[2])

class Drawn:
    def __len__(self):
        return m

    def __getitem__(self, j):
        return np.random.default_rng(j).standard_normal((50, 100))

y = np.where(np.random.default_rng(0).random((m, 50)) < 0.5, 1.0, -1.0)
clients = fedrepro.StreamedClients.from_arrays(
    Drawn(), y, loss="logistic", ridge=0.1, memory_gb=memory_gb, reference=False)
for name, parameters in (("fedgd", {"step": 1.0}), ("fednew", {})):
    fedrepro.run(name, clients, rounds=1, **parameters)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the peak of a process alone")
def test_the_process_stays_within_its_budget():
    """5,000 clients of 50 x 100 are 0.2 GB of rows and 0.4 GB of Hessians; 100,000 are 20 times that (benchmarks/scaling.py)."""
    done = subprocess.run([sys.executable, "-c", PEAK, "5000", "0.4"], check=True, capture_output=True)
    assert 1000 * float(done.stdout) < 0.4e9
