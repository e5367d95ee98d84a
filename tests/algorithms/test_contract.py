"""What every algorithm found in fedrepro/algorithms must satisfy. A new file is tested without being listed.

Which federations an algorithm is run on follows from its `needs` and what the classes of clients offer.
"""

import inspect

import numpy as np
import pytest

from centralised_twins import PARAMS as ALONE
from centralised_twins import TWINS
from fedrepro import algorithms
from fedrepro.federation.ledger import COLUMNS
from hand_counts import COUNTS, PARAMS, T
from small_federations import CASES, KINDS, all_kinds, params, points, small, suited
from watched_federations import WATCHED, NotSent, Private, watched

EVERY = algorithms.names()
PAIRS = [(name, kind) for name in EVERY for kind in suited(name)]

# Where a property does not belong to the method; why, and so what is tested instead.
LEAVES_A_SHARED_MINIMISER = {
    "fedsplit_printed": "a slip of the paper, kept to show what it does",
    "fedsplit_perturbed": "its proximal steps are off on purpose",
    "fedavg_hybrid": "a client predicts from its own features alone, and its minimiser is another",
    "hyfem": "a client predicts from its own features alone, and its minimiser is another",
}
DRAWS_FOR_EACH_CLIENT = {
    "mont_dec": {"increment": 1},  # the channel lets copies send different numbers of vectors
    "fedsplit_perturbed": {"direction": "same"},
}
SERVER_KNOWS_MORE = {
    "fedgd_limit": "a closed form: not a method a federation would run",
    "fedprox_limit": "a closed form: not a method a federation would run",
}


def label(value):
    return value.__name__ if isinstance(value, type) else str(value)


@pytest.mark.parametrize("name", EVERY)
def test_is_documented_and_keyword_only(name):
    function = algorithms.get(name)
    assert inspect.isgeneratorfunction(function)
    cited = inspect.getdoc(inspect.getmodule(function))
    assert cited, f"algorithms/{name}.py needs a docstring citing the paper"
    first, *rest = inspect.signature(function).parameters.values()
    assert (
        first.kind is first.POSITIONAL_OR_KEYWORD
    )  # the federation: clients, or agents where a paper says so
    assert all(p.kind is p.KEYWORD_ONLY for p in rest)


def test_every_kind_of_clients_has_a_small_federation():
    assert all_kinds() == set(KINDS)


@pytest.mark.parametrize("name", EVERY)
def test_some_clients_offer_what_it_needs(name):
    assert suited(name), f"no kind of clients offers all of {sorted(algorithms.get(name).needs)}"


@pytest.mark.parametrize("name, kind", PAIRS, ids=label)
def test_the_same_seed_gives_the_same_bits(name, kind):
    """On every kind of clients that offers what it needs: declared needs are all that it uses."""
    one, two = small(kind), small(kind)
    assert one is not two
    np.testing.assert_array_equal(points(name, one), points(name, two))
    assert one.ledger.row() == two.ledger.row()
    assert np.shape(points(name, small(kind), 1)[0]) == np.shape(one.start)


@pytest.mark.parametrize("name, kind", PAIRS, ids=label)
def test_the_ledger_never_decreases(name, kind):
    clients, rows = small(kind), []
    generator = algorithms.get(name)(clients, **params(name))
    for _ in range(6):
        rows.append(list(clients.ledger.row().values()))
        next(generator)
    assert np.all(np.diff(rows, axis=0) >= 0)


@pytest.mark.parametrize("name", EVERY)
def test_the_ledger_equals_a_hand_count(name):
    if name not in COUNTS:
        pytest.skip(
            f"{name} is not counted by hand yet: add what its box sends and computes to tests/hand_counts.py"
        )
    clients = small(suited(name)[0])
    points(name, clients, T, **PARAMS.get(name, {}))
    found = clients.ledger.row()
    expected = COUNTS[name](found) if callable(COUNTS[name]) else COUNTS[name]
    assert set(expected) <= set(COLUMNS)
    assert found == dict.fromkeys(COLUMNS, 0) | expected


def seen_by_the_server(name, kind):
    for point in points_of(name, watched(kind)):
        if isinstance(point, Private):
            raise NotSent(f"{name} yields what no client sent: collect or average it first")


def points_of(name, clients, rounds=4):
    generator = algorithms.get(name)(clients, **params(name))
    return [next(generator) for _ in range(rounds)]


# Vectors of their own making are counted by `send_vectors`, which does not carry them: these methods are not watched.
@pytest.mark.parametrize(
    "name, kind",
    [(n, k) for n, k in PAIRS if k in WATCHED and not {"vectors", "gathered"} & algorithms.get(n).needs],
    ids=label,
)
def test_the_server_knows_only_what_was_sent(name, kind):
    if name in SERVER_KNOWS_MORE:
        with pytest.raises(NotSent):
            seen_by_the_server(name, kind)
    else:
        seen_by_the_server(name, kind)


@pytest.mark.parametrize("name, kind", PAIRS, ids=label)
def test_a_shared_minimiser_is_a_fixed_point(name, kind):
    clients = small(kind, case="shared")
    moved = max(np.abs(x - clients.start).max() for x in points(name, clients))
    if name in LEAVES_A_SHARED_MINIMISER:
        assert moved > 1e-3
    else:
        assert moved < 1e-6


@pytest.mark.parametrize("name, kind", [pair for pair in PAIRS if "copies" in CASES[pair[1]]], ids=label)
def test_copies_of_one_client_move_as_that_client_alone(name, kind):
    more = DRAWS_FOR_EACH_CLIENT.get(name, {})
    alone, three = (points(name, small(kind, m, "copies"), **more) for m in (1, 3))
    np.testing.assert_allclose(three, alone, rtol=1e-9, atol=1e-10)
    assert np.abs(alone[0] - small(kind, 1, "copies").start).max() > 1e-4  # they do move


@pytest.mark.parametrize("name", TWINS)
def test_one_client_is_the_centralised_method(name):
    kind = suited(name)[0]
    ours = points(name, small(kind, 1), **ALONE.get(name, {}))
    twin = TWINS[name](small(kind, 1))
    np.testing.assert_allclose(ours, [next(twin) for _ in ours], rtol=1e-9, atol=1e-11)
