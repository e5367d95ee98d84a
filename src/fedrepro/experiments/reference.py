"""References: the optimum of every problem and its constants, computed once and shared by all its blocks."""

import json
from dataclasses import dataclass, field

import numpy as np

from fedrepro.datasets.files import reading, written
from fedrepro.maths import optimum


@dataclass
class Reference:
    """What is known of a problem before any algorithm runs."""

    optimum: np.ndarray | None = None  # x*, where it was solved for
    constants: dict = field(default_factory=dict)  # what stepsize rules and algorithms refer to: l*, L*, …
    facts: dict = field(default_factory=dict)  # what figures and claims say of the problem
    winners: dict = field(
        default_factory=dict
    )  # algorithm -> aim -> hyper-parameters, where a problem tunes them


def solve(costs, start: np.ndarray | None = None) -> Reference:
    """x*, F*, and l*, L* (over the clients), l_F, L_F (of the mean), D2 = ‖x⁽¹⁾ − x*‖²."""
    x = optimum.minimiser(costs)
    begin = np.zeros(costs.shape) if start is None else start
    constants = optimum.constants(costs, x) | {"D2": float(np.sum((begin - x) ** 2))}
    return Reference(x, constants, optimum.certificate(costs, x))


PARTS = ("constants", "facts")


def save(path, table: dict[tuple[str, int], Reference], key: str = "") -> None:
    """One .npz for an experiment: arrays named `<setting>|<seed>|<part>|<quantity>`, and the key it was made under."""
    flat = {"key": np.array(key)}
    for (setting, seed), reference in table.items():
        place = f"{setting}|{seed}"
        if reference.optimum is not None:
            flat[f"{place}|optimum|x"] = reference.optimum
        for part in PARTS:
            flat |= {f"{place}|{part}|{key}": value for key, value in getattr(reference, part).items()}
        flat[f"{place}|winners|json"] = np.array(json.dumps(reference.winners, sort_keys=True))
    with written(path) as temporary:
        np.savez(temporary, **flat)


def key(path) -> str:
    """What a reference was made of, as a hash."""
    with reading(path), np.load(path, allow_pickle=False) as archive:
        return str(archive["key"]) if "key" in archive.files else "none"


def read(path) -> dict[tuple[str, int], Reference]:
    table: dict[tuple[str, int], Reference] = {}
    with reading(path), np.load(path, allow_pickle=False) as archive:
        for name in archive.files:
            if name == "key":
                continue
            setting, seed, part, key = name.split("|")
            reference = table.setdefault((setting, int(seed)), Reference())
            value = archive[name]
            if part == "optimum":
                reference.optimum = value
            elif part == "winners":
                reference.winners = json.loads(str(value))
            else:
                getattr(reference, part)[key] = float(value) if value.ndim == 0 else value
    return table
