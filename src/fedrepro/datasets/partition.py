"""Rows and columns to clients: the index sets the papers' federations are made of.

The schemes are plain functions of labels, groups or sizes and a random stream; they return one index array
per client. `build` applies the one a paper declares, `save` and `read` keep all its seeds in one file with
their hashes.
"""

import hashlib
import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from fedrepro.datasets import DataError, Dataset
from fedrepro.datasets.files import reading, written
from fedrepro.datasets.mushroom import MISSING
from fedrepro.datasets.preprocess import without_missing
from fedrepro.maths.domains import AtMost, Bounds, Count, Form, Fraction, Natural
from fedrepro.maths.seeds import stream

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


def iid(n: int, clients: Count, size: Count | None, rng: np.random.Generator) -> Rows:
    """Disjoint random sets of `size` rows each; all n rows in nearly equal parts where size is None."""
    order = rng.permutation(n)
    if size is None:
        return np.array_split(order, clients)
    need(clients * size <= n, f"{clients} clients of {size} rows need {clients * size} rows, there are {n}")
    return list(order[: clients * size].reshape(clients, size))


def label_skew(
    y: np.ndarray,
    clients: Count,
    size: Annotated[int, Bounds(2)],
    target: int,
    rest: Literal["mixed", "one"],
    rng: np.random.Generator,
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
    y: np.ndarray,
    clients: Count,
    smallest: Annotated[Count, AtMost("largest")],
    largest: Count,
    single: Annotated[Natural, AtMost("clients")],
    rng: np.random.Generator,
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


def one_year_per_agent(y: np.ndarray, clients: Count, largest: Count, rng: np.random.Generator) -> Rows:
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


def random_runs(rows: np.ndarray, shares: np.ndarray) -> Rows:
    """`rows` cut into consecutive runs whose lengths are proportional to `shares`."""
    cuts = np.round(np.cumsum(shares) / np.sum(shares) * len(rows)).astype(int)[:-1]
    return np.split(rows, cuts)


def sorted_runs(y: np.ndarray, clients: Count, rng: np.random.Generator) -> Rows:
    """Runs of the rows in the order of their response, the most unlike clients (Niu & Wei, setup 2). Sizes "following a
    uniform distribution" are here U(½, 3/2) times the mean."""
    need(clients <= len(y), f"{clients} clients for {len(y)} rows")
    return random_runs(np.argsort(y, kind="stable"), rng.uniform(0.5, 1.5, clients))


def pure_clients(n: int) -> tuple[int, int]:
    """Niu & Wei: how many of n clients hold only label 0 and only label 1: eleven and eight of 20, four and three of 8."""
    zeros = round(0.58 * (n - 1))
    return zeros, n - 1 - zeros


def one_label_each(y: np.ndarray, clients: Count, rng: np.random.Generator) -> Rows:
    """Clients of random sizes with rows of one label, and a last one with both (Niu & Wei, setup 4)."""
    values = np.unique(y)
    need(len(values) == 2, f"two labels are needed, there are {len(values)}")
    pure, mixed = [], []
    for value, count in zip(values, pure_clients(clients), strict=True):
        own = rng.permutation(np.flatnonzero(y == value))
        *runs, rest = random_runs(own, np.append(rng.uniform(0.5, 1.5, count), 0.5))
        pure, mixed = pure + runs, [*mixed, rest]
    return [*pure, np.concatenate(mixed)]


def by_group(groups: np.ndarray, clients: Count | None, smallest: Count, rng: np.random.Generator) -> Rows:
    """A client per writer or session with at least `smallest` rows; a random choice of them where clients is
    given."""
    order = np.argsort(groups, kind="stable")
    _, starts = np.unique(groups[order], return_index=True)
    parts = [part for part in np.split(order, starts[1:]) if len(part) >= smallest]
    if clients is None:
        return parts
    need(clients <= len(parts), f"{clients} clients, but only {len(parts)} groups of {smallest} rows or more")
    return [parts[i] for i in np.sort(rng.choice(len(parts), clients, replace=False))]


def read_grid(text: str) -> tuple[int, int, float]:
    """`5x4@0.5`: five row blocks by four column blocks, half of the clients available in a round."""
    blocks, _, fraction = text.partition("@")
    rows, _, columns = blocks.partition("x")
    return int(rows), int(columns), float(fraction or 1)


def is_grid(text) -> bool:
    try:
        rows, columns, fraction = read_grid(str(text))
    except ValueError:
        return False
    return rows > 0 and columns > 0 and 0 < fraction <= 1


Grid = Annotated[str, Form("row blocks x column blocks @ the share available, such as 5x4@0.5", is_grid)]


def hybrid(n: int, d: int, clients: Grid, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """A grid of rectangular `clients`: samples cut in random row blocks, features in random column blocks.

    Client r * column_blocks + c holds row block r and column block c (Overman et al., section 5).
    """
    row_blocks, column_blocks, _ = read_grid(clients)
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
    "sorted_runs": lambda y, groups, d, rng, clients: sorted_runs(y, clients, rng),
    "one_label_each": lambda y, groups, d, rng, clients: one_label_each(y, clients, rng),
    "by_group": lambda y, groups, d, rng, clients=None, smallest=1: by_group(groups, clients, smallest, rng),
    "hybrid": lambda y, groups, d, rng, clients: hybrid(len(y), d, clients, rng),
}


def held_out(dataset: Dataset, share: float) -> np.ndarray:
    """Which rows are held out of a dataset without a split of its own: the same for every seed, groups on one side."""
    group = np.arange(len(dataset.y)) if dataset.groups is None else np.asarray(dataset.groups)
    return stream(0, "held out", dataset.name).random(group.max() + 1)[group] < share


def pool_of(
    dataset: Dataset,
    rng,
    split: Literal["train", "test", "all"] = "train",
    heldout: Fraction | None = None,
    missing: Literal["keep", "drop"] = "keep",
    take: Count | Literal["all"] = "all",
    same_rows: bool = False,
):
    """The rows a partition begins with: of the `split` (train, test or all), without a `heldout` share where there is no
    split, without rows that lack a value where `missing` is drop, and a random number of those where `take` is one, the
    same for every seed with `same_rows`."""
    pool = {"train": dataset.train, "test": dataset.test, "all": np.arange(len(dataset.y))}[split]
    if heldout is not None and len(dataset.test) == 0:
        pool = pool[~held_out(dataset, heldout)[pool]]
    if missing == "drop":
        pool = pool[without_missing(dataset.X[pool], MISSING)]
    if take != "all":
        need(take <= len(pool), f"{take} rows wanted of {dataset.name}, which has {len(pool)}")
        rng = stream(0, "partition", dataset.name, "rows") if same_rows else rng
        pool = np.sort(rng.choice(pool, take, replace=False))
    return pool


def parameters(scheme: str) -> dict[str, inspect.Parameter]:
    """A scheme's parameters, each with its default and the set it lies in; those of `pool_of` belong to every scheme."""
    common = list(inspect.signature(pool_of).parameters.values())[2:]
    known = list(inspect.signature(SCHEMES[scheme]).parameters.values())[4:]
    sets = inspect.signature(globals()[scheme]).parameters
    return {p.name: p.replace(annotation=sets[p.name].annotation) for p in known} | {
        p.name: p for p in common
    }


def build(dataset: Dataset, scheme: str, seed: int, given: dict) -> Partition:
    """One seed of a declared partition."""
    need(scheme in SCHEMES, f"no partition scheme '{scheme}'; valid: {', '.join(SCHEMES)}")
    valid, common = parameters(scheme), inspect.signature(pool_of).parameters
    for name in given:
        need(name in valid, f"scheme '{scheme}' takes no '{name}'; valid: {', '.join(valid)}")
    need(
        scheme != "by_group" or dataset.groups is not None, f"{dataset.name} has no groups to be the clients"
    )
    rng = stream(seed, "partition", dataset.name, scheme)
    pool = pool_of(dataset, rng, **{k: v for k, v in given.items() if k in common})
    groups = None if dataset.groups is None else dataset.groups[pool]
    own = {k: v for k, v in given.items() if k not in common}
    try:
        found = SCHEMES[scheme](dataset.y[pool], groups, dataset.X.shape[1], rng, **own)
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


def variant_of(parameters: dict) -> str:
    """`clients=5x4@1,take=100`: which of several partitions, where an experiment's settings decide; `-` for the only one."""
    return ",".join(f"{k}={v}" for k, v in sorted(parameters.items())) or "-"


def save(path: str | Path, variants: dict[str, list[Partition]], from_setting: dict[str, str]) -> None:
    """All variants and seeds of one declared partition in one npz: concatenated indices, sizes, and what they are.
    `from_setting` names the parameters that an experiment's setting decides, and what they are called there.

    Clients of a hybrid grid share their row and column blocks: a block is kept once, `of` says whose it is.
    """
    arrays, hashes = {}, {}
    for variant, partitions in variants.items():
        for p in partitions:
            place = f"{variant}|{p.seed}"
            hashes[place] = p.hash
            for axis, parts in (("rows", p.rows), ("columns", p.columns)):
                if parts is None:
                    continue
                blocks = {part.tobytes(): part for part in parts}
                places = {key: i for i, key in enumerate(blocks)}
                arrays[f"{place}|{axis}"] = np.concatenate(list(blocks.values()))
                arrays[f"{place}|{axis} sizes"] = np.array([len(part) for part in blocks.values()], np.int32)
                arrays[f"{place}|{axis} of"] = np.array([places[part.tobytes()] for part in parts], np.int32)
    first = next(iter(variants.values()))[0]
    about = {name: getattr(first, name) for name in ("dataset", "scheme", "origin")}
    about |= {"hashes": hashes, "from_setting": from_setting}
    arrays["about"] = np.array(json.dumps(about, sort_keys=True))
    with written(path) as temporary:
        np.savez_compressed(temporary, **arrays)


def read(path: str | Path, seed: int, setting: dict | None = None) -> Partition:
    """The index sets of one seed, as saved; where there are variants, those of an experiment's `setting` (without one,
    the first)."""
    try:
        with reading(path), np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            first = next(iter(about["hashes"])).rpartition("|")[0]
            chosen = (
                {k: setting[v] for k, v in about["from_setting"].items()} if setting is not None else None
            )
            place = f"{first if chosen is None else variant_of(chosen)}|{seed}"
            if place not in about["hashes"]:
                raise DataError(f"{path}: no partition {place}; it holds {', '.join(about['hashes'])}")
            parts = {}
            for axis in ("rows", "columns"):
                if f"{place}|{axis}" in file:
                    blocks = np.split(file[f"{place}|{axis}"], np.cumsum(file[f"{place}|{axis} sizes"])[:-1])
                    parts[axis] = [blocks[i] for i in file[f"{place}|{axis} of"]]
    except FileNotFoundError:
        raise DataError(f"no partition at {path}: run `snakemake --cores 2 {path}`") from None
    return Partition(
        rows=parts["rows"],
        columns=parts.get("columns"),
        dataset=about["dataset"],
        scheme=about["scheme"],
        origin=about["origin"],
        seed=seed,
        hash=about["hashes"][place],
    )
