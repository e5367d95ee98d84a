"""Rows and columns to clients: the index sets the papers' federations are made of.

The schemes are plain functions of labels, groups or sizes and a random stream; they return one index array
per client. `build` applies the one a paper declares, `save` and `read` keep all its seeds in one file with
their hashes.
"""

import hashlib
import inspect
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedrepro.datasets import DataError, Dataset
from fedrepro.seeds import stream

Rows = list[np.ndarray]


@dataclass(frozen=True)
class Partition:
    rows: Rows  # one index array per client
    columns: Rows | None  # likewise, where the features are split too
    dataset: str
    scheme: str
    origin: str  # of the dataset
    seed: int
    hash: str  # of the index sets and of the data they point into

    def __len__(self) -> int:
        return len(self.rows)


def iid(n: int, clients: int, size: int | None, rng: np.random.Generator) -> Rows:
    """Disjoint random sets of `size` rows each; all n rows in nearly equal parts where size is None."""
    order = rng.permutation(n)
    if size is None:
        return np.array_split(order, clients)
    need(clients * size <= n, f"{clients} clients of {size} rows need {clients * size} rows, there are {n}")
    return list(order[: clients * size].reshape(clients, size))


def label_skew(
    y: np.ndarray, clients: int, size: int, target: int, rest: str, rng: np.random.Generator
) -> Rows:
    """Half of each client is the target class; the rest is mixed (`rest: mixed`) or of one other class
    (`rest: one`).

    Dal Fabbro et al., section 6: one-vs-all problems with and without label skew. The other classes take
    turns.
    """
    need(rest in ("mixed", "one"), f"rest is 'mixed' or 'one', not '{rest}'")
    half = size // 2
    queue = {int(c): rng.permutation(np.flatnonzero(y == c)).tolist() for c in np.unique(y)}
    need(target in queue, f"no row of the target class {target}")
    others = [c for c in queue if c != target]
    mixed = rng.permutation(np.flatnonzero(y != target)).tolist()
    out = []
    for client in range(clients):
        source = mixed if rest == "mixed" else queue[others[client % len(others)]]
        need(len(queue[target]) >= half, f"the target class has too few rows for {clients} clients of {size}")
        need(len(source) >= size - half, f"a class has too few rows for {clients} clients of {size}")
        rows = queue[target][:half] + source[: size - half]
        del queue[target][:half], source[: size - half]
        out.append(rng.permutation(np.array(rows)))
    return out


def some_single_class(
    y: np.ndarray, clients: int, smallest: int, largest: int, single: int, rng: np.random.Generator
) -> Rows:
    """`smallest` to `largest` rows a client; the first `single` clients see the commoner of two classes only.

    The rarer class goes to the other clients in unequal shares.
    """
    sizes = rng.integers(smallest, largest + 1, clients)
    need(0 <= single < clients, f"{single} single-class clients of {clients}")
    values, counts = np.unique(y, return_counts=True)
    need(len(values) == 2, f"two classes are needed, there are {len(values)}")
    common = rng.permutation(np.flatnonzero(y == values[counts.argmax()]))
    rare = rng.permutation(np.flatnonzero(y == values[counts.argmin()]))
    wanted = np.floor(rng.dirichlet(np.ones(clients - single)) * min(len(rare), sizes[single:].sum() // 2))
    share = np.concatenate([np.zeros(single, int), np.minimum(wanted.astype(int), sizes[single:] // 2)])
    need(
        (sizes - share).sum() <= len(common), f"{clients} clients need {sizes.sum()} rows, there are {len(y)}"
    )
    common = np.split(common, np.cumsum(sizes - share))[:-1]
    rare = np.split(rare, np.cumsum(share))[:-1]
    return [rng.permutation(np.concatenate(parts)) for parts in zip(common, rare, strict=True)]


def one_year_per_agent(y: np.ndarray, clients: int, largest: int, rng: np.random.Generator) -> Rows:
    """Every client holds rows of one year only, at most `largest`, in unequal parts (Dal Fabbro et al.,
    section 6).

    There are more agents than years: each year gets one, the others go to years in proportion to their rows,
    and a year's rows are cut among its agents at random places (our choice). With fewer clients than years,
    the fullest.
    """
    years, counts = np.unique(y, return_counts=True)
    if clients < len(years):
        years = np.sort(years[np.argsort(-counts, kind="stable")[:clients]])
        counts = np.array([(y == year).sum() for year in years])
    agents = np.ones(len(years), int)
    for _ in range(clients - len(years)):
        agents[np.argmax(counts / agents)] += 1
    out = []
    for year, k in zip(years, agents, strict=True):
        rows = rng.permutation(np.flatnonzero(y == year))
        k = min(k, len(rows))
        cuts = np.sort(rng.choice(np.arange(1, len(rows)), k - 1, replace=False)) if k > 1 else []
        out += [part[:largest] for part in np.split(rows, cuts)]
    need(len(out) == clients, f"{clients} clients, but only {len(out)} can hold a row of one year")
    return out


def sorted_by_response(y: np.ndarray, clients: int) -> Rows:
    """Equal runs of the rows in the order of their response: the most unlike clients (Niu & Wei, setup 2)."""
    need(clients <= len(y), f"{clients} clients for {len(y)} rows")
    return np.array_split(np.argsort(y, kind="stable"), clients)


def by_label_one_mixed(y: np.ndarray, first: int, second: int, rng: np.random.Generator) -> Rows:
    """`first` clients of label 0, `second` of label 1, and a last one with both (Niu & Wei, setups 3 and
    4)."""
    values = np.unique(y)
    need(len(values) == 2, f"two labels are needed, there are {len(values)}")
    pure, mixed = [], []
    for value, clients in zip(values, (first, second), strict=True):
        rows = rng.permutation(np.flatnonzero(y == value))
        share = np.linspace(0, len(rows), 2 * clients + 2).astype(int)[
            2::2
        ]  # the mixed client takes half a share
        *own, rest = np.split(rows, share)
        pure, mixed = pure + own, [*mixed, rest]
    return [*pure, rng.permutation(np.concatenate(mixed))]


def by_group(groups: np.ndarray, clients: int | None, smallest: int, rng: np.random.Generator) -> Rows:
    """A client per writer or session with at least `smallest` rows; a random choice of them where clients is
    given."""
    order = np.argsort(groups, kind="stable")
    _, starts = np.unique(groups[order], return_index=True)
    parts = [part for part in np.split(order, starts[1:]) if len(part) >= smallest]
    if clients is None:
        return parts
    need(clients <= len(parts), f"{clients} clients, but only {len(parts)} groups of {smallest} rows or more")
    return [parts[i] for i in np.sort(rng.choice(len(parts), clients, replace=False))]


def hybrid(
    n: int, d: int, row_blocks: int, column_blocks: int, rng: np.random.Generator
) -> tuple[Rows, Rows]:
    """A grid of rectangular clients: samples cut in random row blocks, features in random column blocks.

    Client r * column_blocks + c holds row block r and column block c (Overman et al., section 5).
    """
    need(
        row_blocks <= n and column_blocks <= d, f"{row_blocks} x {column_blocks} blocks of a {n} x {d} matrix"
    )
    rows = [np.sort(part) for part in np.array_split(rng.permutation(n), row_blocks)]
    columns = [np.sort(part) for part in np.array_split(rng.permutation(d), column_blocks)]
    return [r for r in rows for _ in columns], [c for _ in rows for c in columns]


def need(condition: bool, otherwise: str) -> None:
    if not condition:
        raise DataError(otherwise)


# What a paper's YAML calls a scheme, as a function of the dataset's labels y, groups and number of columns d
# (rows outside the training split are already gone), a random stream, and the scheme's own parameters.
SCHEMES = {
    "iid": lambda y, groups, d, rng, clients, size=None: iid(len(y), clients, size, rng),
    "label_skew": lambda y, groups, d, rng, clients, size, target, rest: label_skew(
        y, clients, size, target, rest, rng
    ),
    "some_single_class": lambda y, groups, d, rng, clients, smallest, largest, single: some_single_class(
        y, clients, smallest, largest, single, rng
    ),
    "one_year_per_agent": lambda y, groups, d, rng, clients, largest: one_year_per_agent(
        y, clients, largest, rng
    ),
    "sorted_by_response": lambda y, groups, d, rng, clients: sorted_by_response(y, clients),
    "by_label_one_mixed": lambda y, groups, d, rng, first, second: by_label_one_mixed(y, first, second, rng),
    "by_group": lambda y, groups, d, rng, clients=None, smallest=1: by_group(groups, clients, smallest, rng),
    "hybrid": lambda y, groups, d, rng, row_blocks, column_blocks: hybrid(
        len(y), d, row_blocks, column_blocks, rng
    ),
}


def build(dataset: Dataset, scheme: str, seed: int, parameters: dict) -> Partition:
    """One seed of a declared partition. Two parameters belong to every scheme: `split` (train, test or all
    rows; train is the default) and `take`, a random number of those rows to begin with."""
    need(scheme in SCHEMES, f"no partition scheme '{scheme}'; valid: {', '.join(SCHEMES)}")
    parameters = dict(parameters)
    split, take = parameters.pop("split", "train"), parameters.pop("take", None)
    known = list(inspect.signature(SCHEMES[scheme]).parameters)[4:]
    for name in parameters:
        need(name in known, f"scheme '{scheme}' takes no '{name}'; valid: {', '.join(known)}")
    need(
        scheme != "by_group" or dataset.groups is not None, f"{dataset.name} has no groups to be the clients"
    )
    rng = stream(seed, "partition", dataset.name, scheme)
    pool = {"train": dataset.train, "test": dataset.test, "all": np.arange(len(dataset.y))}[split]
    if take is not None:
        need(take <= len(pool), f"{take} rows wanted of {dataset.name}, which has {len(pool)}")
        pool = np.sort(rng.choice(pool, take, replace=False))
    groups = None if dataset.groups is None else dataset.groups[pool]
    try:
        found = SCHEMES[scheme](dataset.y[pool], groups, dataset.X.shape[1], rng, **parameters)
    except TypeError as error:
        raise DataError(f"scheme '{scheme}': {str(error).replace('<lambda>()', 'it is')}") from None
    rows, columns = found if isinstance(found, tuple) else (found, None)
    rows = [pool[part].astype(np.int32) for part in rows]
    need(all(len(part) for part in rows), f"{scheme} of {dataset.name} leaves a client without rows")
    columns = None if columns is None else [part.astype(np.int32) for part in columns]
    return Partition(
        rows, columns, dataset.name, scheme, dataset.origin, seed, digest(dataset, rows, columns)
    )


def digest(dataset: Dataset, rows: Rows, columns: Rows | None) -> str:
    content = hashlib.sha256(dataset.checksum.encode())
    for part in [*rows, *(columns or [])]:
        content.update(np.int64(len(part)).tobytes() + part.astype("<i4").tobytes())
    return content.hexdigest()


def save(path: str | Path, partitions: list[Partition]) -> None:
    """All seeds of one declared partition in one npz: concatenated indices, sizes, and what they are.

    Clients of a hybrid grid share their row and column blocks: a block is kept once, `of` says whose it is.
    """
    path, arrays = Path(path), {}
    for p in partitions:
        for axis, parts in (("rows", p.rows), ("columns", p.columns)):
            if parts is None:
                continue
            blocks = {part.tobytes(): part for part in parts}
            places = {key: i for i, key in enumerate(blocks)}
            arrays[f"{axis}_{p.seed}"] = np.concatenate(list(blocks.values()))
            arrays[f"{axis}_sizes_{p.seed}"] = np.array([len(part) for part in blocks.values()], np.int32)
            arrays[f"{axis}_of_{p.seed}"] = np.array([places[part.tobytes()] for part in parts], np.int32)
    first = partitions[0]
    about = {
        "dataset": first.dataset,
        "scheme": first.scheme,
        "origin": first.origin,
        "hashes": {str(p.seed): p.hash for p in partitions},
    }
    arrays["about"] = np.array(json.dumps(about, sort_keys=True))
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part.npz")
    np.savez_compressed(part, **arrays)
    part.replace(path)


def read(path: str | Path, seed: int) -> Partition:
    """The index sets of one seed, as saved."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            if str(seed) not in about["hashes"]:
                raise DataError(f"{path}: no seed {seed}; it holds {', '.join(about['hashes'])}")
            parts = {}
            for axis in ("rows", "columns"):
                if f"{axis}_{seed}" in file:
                    blocks = np.split(file[f"{axis}_{seed}"], np.cumsum(file[f"{axis}_sizes_{seed}"])[:-1])
                    parts[axis] = [blocks[i] for i in file[f"{axis}_of_{seed}"]]
    except FileNotFoundError:
        raise DataError(f"no partition at {path}: run `snakemake --cores 2 {path}`") from None
    return Partition(
        rows=parts["rows"],
        columns=parts.get("columns"),
        dataset=about["dataset"],
        scheme=about["scheme"],
        origin=about["origin"],
        seed=seed,
        hash=about["hashes"][str(seed)],
    )
