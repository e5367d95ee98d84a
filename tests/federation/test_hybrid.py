import numpy as np
import pytest
import scipy.sparse

from fedrepro.algorithms.fedavg_hybrid import fedavg_hybrid
from fedrepro.algorithms.hyfdca import hyfdca
from fedrepro.algorithms.hyfem import hyfem
from fedrepro.datasets.partition import hybrid
from fedrepro.federation.hybrid import Attendance, HybridClients
from fedrepro.federation.rectangles import Rectangles
from fedrepro.maths import hinge
from fedrepro.maths.kernels.dual_ascent import ascend_plain
from hinge_problems import unit_problem

LOCALS = ["practical", "theory", "refreshed"]


def primal(w):
    """P(w) of the one small problem, at the λ the rectangles have unless told."""
    return hinge.primal(*unit_problem(), 0.05, w)


@pytest.mark.parametrize("local", LOCALS)
@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_weak_duality_at_every_round(rectangles, run, local, fraction):
    data = rectangles()
    for _, w, clients in run(hyfdca, data, 60, fraction, {"inner": 5, "local": local}):
        alpha = clients.duals()
        assert np.all((data.y * alpha > -1e-12) & (data.y * alpha < 1 + 1e-12))
        assert primal(w) >= data.dual(alpha) - 1e-12
        assert primal(data.combine(alpha)) >= data.dual(alpha) - 1e-12


@pytest.mark.parametrize("local", LOCALS)
def test_weights_belong_to_the_duals_when_all_take_part(rectangles, run, local):
    data = rectangles()
    for _, w, clients in run(hyfdca, data, 30, 1.0, {"inner": 5, "local": local}):
        assert np.abs(w - data.combine(clients.duals())).max() < 1e-12
    assert np.abs(w).max() > 0.01


def test_they_do_not_when_some_are_absent(rectangles, run):
    data = rectangles()
    stale = [
        np.abs(w - data.combine(c.duals())).max() for _, w, c in run(hyfdca, data, 20, 0.5, {"inner": 5})
    ]
    assert max(stale) > 1e-3


def test_horizontal_with_one_client_is_sdca(run):
    X, y = unit_problem()
    data = Rectangles(X, y, [np.arange(60)], [np.arange(12)], 0.05)
    clients = HybridClients(data)
    order = HybridClients(data).choose(0, 60)  # the same stream: what the client will visit
    w = next(hyfdca(clients, inner=60, local="refreshed"))
    alpha, v = np.zeros(60), np.zeros(12)
    ascend_plain(X, y, alpha, np.zeros(60), (X * X).sum(axis=1), order, 0.05 * 60, 1.0, v)
    assert np.abs(clients.duals() - alpha).max() < 1e-12 and np.abs(w - v).max() < 1e-12
    # Algorithm 5 visits one coordinate at a time: also SDCA
    one = HybridClients(data)
    twin = HybridClients(data)
    alpha, v = np.zeros(60), np.zeros(12)
    steps = hyfdca(one, inner=1)
    for _ in range(80):
        w = next(steps)
        ascend_plain(X, y, alpha, np.zeros(60), (X * X).sum(axis=1), twin.choose(0, 1), 0.05 * 60, 1.0, v)
    assert np.abs(one.duals() - alpha).max() < 1e-12 and np.abs(w - v).max() < 1e-12


@pytest.mark.parametrize("function", [hyfdca, fedavg_hybrid, hyfem])
def test_permuting_clients_changes_nothing(function):
    X, y = unit_problem()
    rows, columns = hybrid(60, 12, "3x2", np.random.default_rng(1))
    params = {"inner": 5} if function is hyfdca else {"local_steps": 20, "a": 0.5, "b": 1.0}
    params |= {"mu": 0.1} if function is hyfem else {}
    ends = []
    for order in (range(6), (4, 1, 5, 0, 2, 3)):
        data = Rectangles(X, y, [rows[k] for k in order], [columns[k] for k in order], 0.05)
        clients = HybridClients(data, fraction=0.5)
        steps = function(clients, **params)
        w = [next(steps) for _ in range(15)][-1]
        ends.append((w, clients.ledger.row()))
    assert np.array_equal(ends[0][0], ends[1][0]) and ends[0][1] == ends[1][1]


def test_an_absent_client_counts_with_the_last_it_sent(rectangles):
    data = rectangles(2, 2)
    clients = HybridClients(data, fraction=0.5)
    sent = {k: (np.zeros(len(clients.w[k])), None) for k in range(4)}
    rounds = hyfdca(clients, inner=10)
    for _ in range(25):
        w = next(rounds)
        for k in clients.last:
            sent[k] = (data.clients[k].X.T @ clients.alpha[k], clients.server.products[k])
        expected = np.zeros(data.M)
        for k, (part, _) in sent.items():
            expected[data.clients[k].columns] += part / (data.lam * data.N)
            assert np.allclose(clients.server.parts[k], part, atol=1e-14)
        assert np.abs(w - expected).max() < 1e-12
        for k in clients.last:  # margins hold the absent neighbour's last product, not zero
            (g,) = data.clients[k].groups
            known = [
                clients.server.products[j][g] for j in data.holders[g] if g in clients.server.products[j]
            ]
            assert np.abs(clients.margins[k] - sum(known)).max() < 1e-12
    absent = [k for k in range(4) if k not in clients.last]
    assert all(np.abs(clients.server.parts[k]).max() > 0 for k in absent)


@pytest.mark.parametrize(("blocks", "exchanges"), [((3, 2), 3), ((1, 4), 3), ((4, 1), 2)])
def test_round_trips_with_everybody_present(rectangles, run, blocks, exchanges):
    """Section 3.1: three round trips, two for horizontal data."""
    counts = [c.ledger.exchanges for _, _, c in run(hyfdca, rectangles(*blocks), 5, 1.0, {"inner": 3})]
    assert np.diff(counts).tolist() == [exchanges] * 4


def test_the_ledger_counts_what_the_protocol_sends(rectangles, run):
    data = rectangles(3, 2)
    rows = [dict(c.ledger.row()) for _, _, c in run(hyfdca, data, 3, 1.0, {"inner": 3})]
    a, b = rows[1], rows[2]
    samples = sum(c.n for c in data.clients)  # every sample is held twice
    features = sum(len(c.columns) for c in data.clients)
    assert samples == 120
    assert b["encryptions"] - a["encryptions"] == 2 * samples == b["decryptions"] - a["decryptions"]
    assert b["floats_up"] - a["floats_up"] == 2 * samples + features
    assert b["floats_down"] - a["floats_down"] == 2 * samples + features
    assert b["additions"] - a["additions"] == samples + 60  # duals of 6 clients; one sum for each sample
    assert b["slowest_encryptions"] - a["slowest_encryptions"] == 2 * 20
    assert b["local_steps"] - a["local_steps"] == 6 * 3


def test_rectangles_need_not_form_a_grid(run):
    """As in figure 2 of the paper: one client with all features of some samples beside others that share."""
    X, y = unit_problem()
    rows = [np.arange(20), np.arange(20, 60), np.arange(20, 40), np.arange(40, 60)]
    columns = [np.arange(12), np.arange(5), np.arange(5, 12), np.arange(5, 12)]
    data = Rectangles(X, y, rows, columns, 0.05)
    for _, w, clients in run(hyfdca, data, 60, 1.0, {"inner": 4}):
        assert np.abs(w - data.combine(clients.duals())).max() < 1e-12
    assert primal(w) - data.dual(clients.duals()) < 0.1 * primal(np.zeros(12))


def test_sparse_equals_dense(run):
    X, y = unit_problem()
    cut = hybrid(60, 12, "3x2", np.random.default_rng(1))
    for function, params in ((hyfdca, {"inner": 5}), (hyfdca, {"inner": 5, "local": "refreshed"}),
                             (fedavg_hybrid, {"local_steps": 30, "a": 0.5, "b": 1.0})):  # fmt: skip
        ends = [list(run(function, Rectangles(store, y, *cut, 0.05), 10, 0.5, params))[-1][1]
                for store in (X, scipy.sparse.csr_array(X))]  # fmt: skip
        assert np.abs(ends[0] - ends[1]).max() < 1e-12


@pytest.mark.parametrize("wrong", ["gap", "overlap"])
def test_a_bad_cut_is_refused(wrong):
    X, y = unit_problem()
    rows = [np.arange(30), np.arange(30 if wrong == "gap" else 20, 59 if wrong == "gap" else 60)]
    with pytest.raises(ValueError, match=r"no client|overlap"):
        Rectangles(X, y, rows, [np.arange(12)] * 2, 0.05)


def test_attendance():
    cyclic = Attendance(4, cycle=2)
    assert [[int(k) for k in cyclic.next()] for _ in range(3)] == [[0, 1], [2, 3], [0, 1]]
    random = Attendance(10, 0.3, seed=1)
    seen = [random.next() for _ in range(300)]
    assert {len(s) for s in seen} == {3}
    assert np.bincount(np.concatenate(seen)).min() > 50


def test_hyfdca_reaches_the_optimum_where_the_rivals_do_not(rectangles, run):
    X, y = unit_problem()
    best = hinge.solve(X, y, 0.05)["primal"]
    data = rectangles(3, 2)
    losses = {}
    for name, function, params in (
        ("hyfdca", hyfdca, {"inner": 2}),
        ("fedavg", fedavg_hybrid, {"local_steps": 20, "a": 0.3, "b": 1.0}),
        ("hyfem", hyfem, {"local_steps": 20, "a": 0.3, "b": 1.0, "mu": 0.1}),
    ):
        losses[name] = min(primal(w) for _, w, _ in run(function, data, 400, 1.0, params)) / best - 1
    assert losses["hyfdca"] < 1e-3 and min(losses["fedavg"], losses["hyfem"]) > 10 * losses["hyfdca"]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("inner", [1, 4, 60])
def test_a_part_brought_up_to_date_is_the_sum_over_all_samples(run, sparse, inner):
    """Clients read only the rows whose dual has changed; few of them, and more than half."""
    X, y = unit_problem(60, 12)
    X = scipy.sparse.csr_array(X) if sparse else X
    data = Rectangles(X, y, *hybrid(60, 12, "3x2", np.random.default_rng(1)), 0.05)
    for _, _, clients in run(hyfdca, data, 40, 0.5, {"inner": inner}):
        for k in clients.last:
            afresh = data.clients[k].X.T @ clients.alpha[k]
            assert np.abs(clients.server.parts[k] - afresh).max() < 1e-13
    assert any(np.abs(part).max() > 0.1 for part in clients.server.parts)
