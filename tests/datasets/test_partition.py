"""Every scheme gives the clients its paper describes, the same ones for the same seed."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedrepro.datasets import DataError, Dataset, partition


def dataset(n=600, d=12, classes=3, split=True, groups=20, seed=0) -> Dataset:
    rng = np.random.default_rng(seed)
    return Dataset(
        name="toy",
        title="toy",
        X=rng.standard_normal((n, d)),
        y=rng.integers(0, classes, n),
        groups=rng.integers(0, groups, n),
        split=(np.arange(n) >= n - 100).astype(np.uint8) if split else None,
        origin="standin",
        checksum="0" * 64,
    )


def disjoint(parts) -> bool:
    joined = np.concatenate(parts)
    return len(joined) == len(np.unique(joined))


@given(n=st.integers(1, 300), clients=st.integers(1, 20), size=st.none() | st.integers(1, 30))
def test_iid_is_disjoint_and_of_the_size_asked_or_says_why_not(n, clients, size):
    rng = np.random.default_rng(0)
    if size is not None and clients * size > n:
        with pytest.raises(DataError, match="rows"):
            partition.iid(n, clients, size, rng)
        return
    parts = partition.iid(n, clients, size, rng)
    assert len(parts) == clients and disjoint(parts)
    if size is None:
        assert sum(map(len, parts)) == n and np.ptp([len(p) for p in parts]) <= 1
    else:
        assert {len(p) for p in parts} == {size}


def test_label_skew_is_half_target_and_the_rest_mixed_or_of_one_class():
    y = np.repeat(np.arange(10), 300)
    for rest in ("mixed", "one"):
        parts = partition.label_skew(y, 14, 40, 1, rest, np.random.default_rng(1))
        assert len(parts) == 14 and disjoint(parts)
        for part in parts:
            labels = y[part]
            assert len(labels) == 40 and (labels == 1).sum() == 20
            others = np.unique(labels[labels != 1])
            assert len(others) == 1 if rest == "one" else len(others) > 4
    met = {
        int(y[p][y[p] != 1][0]) for p in partition.label_skew(y, 14, 40, 1, "one", np.random.default_rng(1))
    }
    assert met == set(range(10)) - {1}


@pytest.mark.parametrize(
    "size, rest, words", [(700, "one", "too few rows"), (40, "both", "mixed"), (40, "one", "no row")]
)
def test_label_skew_refuses_what_cannot_be(size, rest, words):
    target = 77 if words == "no row" else 1
    with pytest.raises(DataError, match=words):
        partition.label_skew(np.repeat(np.arange(10), 300), 14, size, target, rest, np.random.default_rng(1))


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**31))
def test_one_year_per_agent_holds_one_year(clients, seed):
    rng = np.random.default_rng(seed)
    y = 1922 + rng.integers(0, 15, 800)
    parts = partition.one_year_per_agent(y, clients, 60, rng)
    assert len(parts) == clients and disjoint(parts)
    assert all(len(np.unique(y[p])) == 1 and 1 <= len(p) <= 60 for p in parts)
    assert len({int(y[p[0]]) for p in parts}) == min(clients, len(np.unique(y)))


def test_more_agents_than_rows_of_one_year_is_refused():
    with pytest.raises(DataError, match="can hold"):
        partition.one_year_per_agent(np.array([1990, 1991]), 5, 10, np.random.default_rng(0))


@given(st.integers(1, 30), st.integers(0, 2**31))
def test_sorted_runs_order_the_clients(clients, seed):
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(101)
    parts = partition.sorted_runs(y, clients, rng)
    assert len(parts) == clients and disjoint(parts) and sum(map(len, parts)) == 101
    assert all(y[a].max() <= y[b].min() for a, b in pairwise(parts) if len(a) and len(b))


def test_sorted_runs_are_of_unequal_sizes_around_the_mean():
    sizes = [len(p) for p in partition.sorted_runs(np.arange(4000.0), 20, np.random.default_rng(0))]
    assert 200 * 0.4 < min(sizes) < 200 < max(sizes) < 200 * 1.7 and max(sizes) > 1.3 * min(sizes)


@pytest.mark.parametrize("clients, zeros, ones", [(20, 11, 8), (8, 4, 3)])
def test_one_label_each_has_the_papers_pure_clients_and_one_with_both(clients, zeros, ones):
    y = np.repeat([0, 1], (900, 1400))
    parts = partition.one_label_each(y, clients, np.random.default_rng(0))
    assert [sorted(set(y[p].tolist())) for p in parts] == [[0]] * zeros + [[1]] * ones + [[0, 1]]
    assert disjoint(parts) and sum(map(len, parts)) == 2300
    assert len({len(p) for p in parts}) > clients // 2  # sizes are drawn
    with pytest.raises(DataError, match="two labels"):
        partition.one_label_each(np.arange(30) % 3, clients, np.random.default_rng(0))


def test_some_single_class_sizes_and_purity():
    y = np.where(np.arange(20_000) % 30 == 0, 1, -1)
    parts = partition.some_single_class(y, 20, 700, 900, 6, np.random.default_rng(0))
    assert disjoint(parts) and all(700 <= len(p) <= 900 for p in parts)
    assert all((y[p] == -1).all() for p in parts[:6]) and sum((y[p] == 1).any() for p in parts[6:]) > 10


def test_by_group_is_one_client_per_group():
    groups = np.random.default_rng(0).integers(0, 9, 100)
    parts = partition.by_group(groups, None, 1, np.random.default_rng(0))
    assert len(parts) == 9 and disjoint(parts) and sum(map(len, parts)) == 100
    assert all(len(np.unique(groups[p])) == 1 for p in parts)
    some = partition.by_group(groups, 4, 1, np.random.default_rng(0))
    assert len({int(groups[p[0]]) for p in some}) == 4


def test_a_grid_of_clients_is_read():
    assert partition.read_grid("5x4@0.5") == (5, 4, 0.5)
    assert partition.read_grid("2x3") == (2, 3, 1.0)


@given(st.integers(1, 60), st.integers(1, 40), st.integers(1, 6), st.integers(1, 5))
def test_hybrid_blocks_tile_the_matrix(n, d, row_blocks, column_blocks):
    rng, grid = np.random.default_rng(3), f"{row_blocks}x{column_blocks}@0.5"
    if row_blocks > n or column_blocks > d:
        with pytest.raises(DataError):
            partition.hybrid(n, d, grid, rng)
        return
    rows, columns = partition.hybrid(n, d, grid, rng)
    covered = np.zeros((n, d), int)
    for r, c in zip(rows, columns, strict=True):
        covered[np.ix_(r, c)] += 1
    assert (covered == 1).all() and len(rows) == row_blocks * column_blocks


EVERY_SCHEME = [
    ("iid", {"clients": 5}),
    ("iid", {"clients": 5, "size": 7, "take": 100}),
    ("label_skew", {"clients": 4, "size": 20, "target": 1, "rest": "one"}),
    ("sorted_runs", {"clients": 8}),
    ("by_group", {}),
    ("by_group", {"clients": 6, "smallest": 3, "split": "all"}),
    ("one_label_each", {"clients": 5}),
    ("hybrid", {"clients": "3x4@0.5"}),
]


@pytest.mark.parametrize("scheme, parameters", EVERY_SCHEME)
def test_saved_and_read_back_with_a_hash_that_knows_the_seed_and_the_data(tmp_path, scheme, parameters):
    toy = dataset(classes=2 if scheme == "one_label_each" else 3)
    made = [partition.build(toy, scheme, seed, parameters) for seed in range(3)]
    again = [partition.build(toy, scheme, seed, parameters) for seed in range(3)]
    assert [p.hash for p in made] == [p.hash for p in again]
    random = scheme != "by_group" or "clients" in parameters
    assert len({p.hash for p in made}) == (3 if random else 1)
    path = tmp_path / "sub" / "p.npz"
    partition.save(path, {"-": made}, {})
    for wanted in made:
        found = partition.read(path, wanted.seed)
        assert found.hash == wanted.hash and found.origin == "standin" and found.dataset == "toy"
        assert all(np.array_equal(a, b) for a, b in zip(found.rows, wanted.rows, strict=True))
        assert (found.columns is None) == (wanted.columns is None)
        for a, b in zip(found.columns or [], wanted.columns or [], strict=True):
            assert np.array_equal(a, b)
    other = Dataset(**{**toy.__dict__, "checksum": "1" * 64})
    assert partition.build(other, scheme, 0, parameters).hash != made[0].hash


def test_only_training_rows_unless_asked():
    toy = dataset()
    train = partition.build(toy, "iid", 0, {"clients": 3})
    assert max(p.max() for p in train.rows) < 500
    test = partition.build(toy, "iid", 0, {"clients": 3, "split": "test"})
    assert min(p.min() for p in test.rows) >= 500 and sum(map(len, test.rows)) == 100
    assert sum(map(len, partition.build(dataset(split=False), "iid", 0, {"clients": 3}).rows)) == 600


def test_rows_held_out_are_nobodys_the_same_for_every_seed_and_whole_groups():
    toy = dataset(split=False)
    out = partition.held_out(toy, 0.3)
    np.testing.assert_array_equal(out, partition.held_out(toy, 0.3))
    assert set(toy.groups[out]).isdisjoint(toy.groups[~out]) and 0 < out.sum() < 600
    for seed in (0, 1):
        taken = np.concatenate(partition.build(toy, "iid", seed, {"clients": 3, "heldout": 0.3}).rows)
        np.testing.assert_array_equal(np.sort(taken), np.flatnonzero(~out))
    assert partition.held_out(toy, 0.0).sum() == 0 and partition.held_out(toy, 1.0).all()


def test_each_row_is_a_group_of_its_own_where_there_are_none():
    toy = Dataset(**{**dataset(n=4000, split=False).__dict__, "groups": None})
    assert partition.held_out(toy, 0.2).mean() == pytest.approx(0.2, abs=0.03)


def test_a_dataset_with_a_split_of_its_own_holds_out_nothing_else():
    taken = partition.build(dataset(), "iid", 0, {"clients": 3, "heldout": 0.3}).rows
    assert sum(map(len, taken)) == 500


def test_rows_may_be_the_same_for_every_seed():
    def rows(seed, **more):
        return set(
            np.concatenate(partition.build(dataset(), "iid", seed, {"clients": 3, "take": 50, **more}).rows)
        )

    assert rows(0) != rows(1) and len(rows(0)) == 50
    assert rows(0, same_rows=True) == rows(1, same_rows=True)
    one, other = (
        partition.build(dataset(), "iid", s, {"clients": 3, "take": 50, "same_rows": True}) for s in (0, 1)
    )
    assert not np.array_equal(one.rows[0], other.rows[0])  # who holds them is drawn all the same


def test_rows_that_lack_a_value_may_be_dropped():
    letters = np.full((40, 3), ord("a"), np.uint8)
    letters[:10, 1] = ord("?")
    toy = Dataset("toy", "toy", letters, np.arange(40) % 2, None, None, "standin", "0" * 64)
    kept = np.concatenate(partition.build(toy, "iid", 0, {"clients": 3, "missing": "drop"}).rows)
    assert sorted(kept) == list(range(10, 40))


def test_a_hybrid_grid_is_stored_once_per_block(tmp_path):
    wide = dataset(n=200, d=20_000)
    made = partition.build(wide, "hybrid", 0, {"clients": "5x4@1"})
    partition.save(tmp_path / "p.npz", {"-": [made]}, {})
    with np.load(tmp_path / "p.npz") as file:
        assert file["-|0|columns"].size == 20_000 and file["-|0|rows"].size == 100
    assert len(partition.read(tmp_path / "p.npz", 0)) == 20


@pytest.fixture
def variants(tmp_path):
    """Two grids of clients in one file, of which an experiment's setting chooses."""
    path = tmp_path / "p.npz"
    chosen = [{"clients": grid, "take": 60} for grid in ("2x2@1", "3x2@0.5")]
    made = {
        partition.variant_of(c): [partition.build(dataset(), "hybrid", seed, c) for seed in (0, 1)]
        for c in chosen
    }
    partition.save(path, made, {"clients": "clients", "take": "rows"})
    return path, made


def test_the_setting_decides_which_variant_is_read(variants):
    path, made = variants
    for grid, count in (("2x2@1", 4), ("3x2@0.5", 6)):
        for seed in (0, 1):
            found = partition.read(path, seed, {"clients": grid, "rows": 60, "lambda": 0.1})
            assert len(found) == count
            assert found.hash == made[f"clients={grid},take=60"][seed].hash
    assert partition.read(path, 1).hash == made["clients=2x2@1,take=60"][1].hash  # the first, unless told


def test_a_variant_that_is_not_there_is_an_error_that_names_what_is(variants):
    path, _ = variants
    with pytest.raises(DataError) as error:
        partition.read(path, 0, {"clients": "9x9@1", "rows": 60})
    assert "clients=9x9@1,take=60|0" in str(error.value) and "clients=3x2@0.5,take=60|1" in str(error.value)


@pytest.mark.parametrize(
    "scheme, parameters, words",
    [
        ("idd", {"clients": 3}, "valid: iid, "),
        ("iid", {"client": 3}, "valid: clients, size"),
        ("iid", {}, "clients"),
        ("iid", {"clients": 3, "take": 10**6}, "which has 500"),
        ("iid", {"clients": 800}, "without rows"),
        ("by_group", {"clients": 50}, "only"),
    ],
)
def test_a_wrong_declaration_is_one_sentence(scheme, parameters, words):
    with pytest.raises(DataError, match=words):
        partition.build(dataset(), scheme, 0, parameters)


def test_groups_are_needed_and_missing_files_name_the_command(tmp_path):
    ungrouped = Dataset(**{**dataset().__dict__, "groups": None})
    with pytest.raises(DataError, match="no groups"):
        partition.build(ungrouped, "by_group", 0, {})
    with pytest.raises(DataError, match="snakemake --cores 2"):
        partition.read(tmp_path / "none.npz", 0)
    partition.save(tmp_path / "p.npz", {"-": [partition.build(dataset(), "iid", 0, {"clients": 3})]}, {})
    with pytest.raises(DataError, match=r"no partition -\|7; it holds -\|0"):
        partition.read(tmp_path / "p.npz", 7)
