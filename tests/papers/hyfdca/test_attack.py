"""The curious server: it recovers rows from weights sent in the clear, and adding them under encryption stops it."""

import numpy as np
import pytest
import scipy.sparse

from fedrepro.algorithms.hyfdca import hyfdca
from fedrepro.federation.hybrid import Pool
from fedrepro.federation.rectangles import Rectangles
from fedrepro.papers.hyfdca.attack import SEEN
from fedrepro.papers.hyfdca.problems import synthetic

SETTING = {"clients": "4x1@1", "lambda": 0.01, "n": 80, "m": 12, "noise": 0.3}


def seen(rounds=30, pooled=False, inner=1, cipher="none", **setting):
    problem = synthetic(SETTING | {"cipher": cipher, "bits": 256} | setting, 0)
    ref = problem.reference()
    clients = problem.clients(ref)
    meters = {name: problem.measure(name, ref) for name in SEEN}
    found = {name: meter(clients.start, clients) for name, meter in meters.items()}
    for _, w in zip(range(rounds), hyfdca(clients, inner=inner, pooled=pooled), strict=False):
        found = {name: meter(w, clients) for name, meter in meters.items()}
    return found, w, clients


def test_with_one_sample_a_round_every_change_is_a_row():
    """The counterexample to the paper's claim that the server cannot reconstruct data or duals, D9."""
    found, _, _ = seen()
    assert found["rows_recovered"] > 0.5 and found["duals_opened"] == found["rows_recovered"]
    assert found["closest_row"] == pytest.approx(1.0, abs=1e-9)
    assert (
        found["closest_words"] == 1.0 and found["words_named"] == SETTING["m"]
    )  # Gaussian rows have all features


def test_pieces_hide_the_dual_but_not_the_row():
    found, _, _ = seen(clients="2x2@1")
    assert found["rows_recovered"] > 0.05 and found["duals_opened"] == 0


def test_many_samples_a_round_hide_the_rows():
    found, _, _ = seen(inner=20)
    assert found["rows_recovered"] < 0.1 and found["closest_row"] < 0.99


@pytest.mark.parametrize("clients", ["4x1@1", "2x2@0.5", "3x2@0.5"])
def test_pooling_changes_no_point_and_hides_more(clients):
    plain, w, _ = seen(clients=clients)
    pooled, same, federation = seen(clients=clients, pooled=True)
    assert np.abs(w - same).max() < 1e-12 and np.abs(w).max() > 0.1
    assert pooled["rows_recovered"] < plain["rows_recovered"]
    assert all(not part.any() for part in federation.server.parts)  # nothing of a single client is kept


def test_pooling_under_a_cipher_visits_the_same_points():
    _, w, _ = seen(rounds=6, n=20)
    _, sealed, _ = seen(rounds=6, n=20, pooled=True, cipher="paillier")
    assert np.abs(w - sealed).max() < 1e-9


def test_what_is_pooled_does_not_tell_who_has_which_words():
    """Clients whose features overlap send vectors of one length, whatever words their own samples have."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((40, 30), density=0.1, rng=rng, format="csr") + scipy.sparse.eye_array(
        40, 30
    )
    rows = np.array_split(np.arange(40), 4)
    columns = [np.arange(15), np.arange(15, 30)]
    parts = [(r, c) for r in rows for c in columns]
    data = Rectangles(
        scipy.sparse.csr_array(X), np.ones(40), [r for r, _ in parts], [c for _, c in parts], 0.1
    )
    pool = Pool(data, np.add)
    assert len({len(client.columns) for client in data.clients}) > 1
    assert sorted({pool.size(k) for k in range(8)}) == sorted({len(own) for own in pool.features})
    assert len(pool.features) == 2 and sum(map(len, pool.features)) == 30
    for k, client in enumerate(data.clients):
        part = rng.standard_normal(len(client.columns))
        whole = np.zeros(30)
        whole[pool.features[pool.band[k]]] = pool.padded(k, part)
        np.testing.assert_array_equal(whole[client.columns], part)
        assert np.count_nonzero(whole) == len(part)
