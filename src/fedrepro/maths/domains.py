"""The sets in which parameters lie, declared where a parameter is used: `local_steps: Count = 1`.

A declaration is an annotation of Python's own: a type, `Literal["zero", "normal"]`, a union, a list, a `TypedDict` for a
whole setting; bounds and forms come with `Annotated`. A configuration is held against it before anything runs.
"""

import difflib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import Parameter
from types import NoneType, UnionType
from typing import Annotated, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

LARGEST = 10**9  # of whole numbers: no size, count or label here is near it, a slip of the finger may be
MOST_LISTED = 15  # names in a sentence
PLAIN = {int: "a whole number", float: "a number", str: "text", bool: "true or false", dict: "a mapping"}


@dataclass(frozen=True)
class Bounds:
    """From `low` to `high`; `ends` says which of them belong, as in [low, high) = Bounds(low, high, "[)")."""

    low: float
    high: float = math.inf
    ends: str = "[]"

    def holds(self, value, beside: dict) -> bool:
        above = value >= self.low if self.ends[0] == "[" else value > self.low
        return above and (value <= self.high if self.ends[1] == "]" else value < self.high)

    def words(self, base: str) -> str:
        if self.high == math.inf:
            return f"{base} {'of at least' if self.ends[0] == '[' else 'above'} {self.low:g}"
        return f"{base} in {self.ends[0]}{self.low:g}, {self.high:g}{self.ends[1]}"


@dataclass(frozen=True)
class AtMost:
    """No more than another parameter of the same setting."""

    other: str

    def holds(self, value, beside: dict) -> bool:
        bound = beside.get(self.other)
        return not isinstance(bound, int | float) or value <= bound

    def words(self, base: str) -> str:
        return f"{base}, and at most {self.other}"


@dataclass(frozen=True)
class NotEmpty:
    def holds(self, value, beside: dict) -> bool:
        return len(value) > 0

    def words(self, base: str) -> str:
        return f"{base}, not empty"


@dataclass(frozen=True)
class Form:
    """Text, or a number, with a grammar of its own."""

    name: str
    accepts: Callable[[object], bool]

    def holds(self, value, beside: dict) -> bool:
        return self.accepts(value)

    def words(self, base: str) -> str:
        return self.name


Count = Annotated[int, Bounds(1)]
Natural = Annotated[int, Bounds(0)]
Positive = Annotated[float, Bounds(0, ends="(]")]
NonNegative = Annotated[float, Bounds(0)]
Share = Annotated[float, Bounds(0, 1, "(]")]
Fraction = Annotated[float, Bounds(0, 1, "()")]
ConditionNumber = Annotated[float, Bounds(1)]


def refusals(value, kind, beside: dict | None = None, place: str = "") -> Iterator[tuple[str, str]]:
    """What is wrong with a value: (where in it, one sentence) each. `beside` are the other parameters of its setting."""
    beside = beside or {}
    if is_typeddict(kind):
        yield from entries(value, kind, beside, place)
    elif isinstance(value, list) and get_origin(kind) is list:
        for i, item in enumerate(value):
            yield from refusals(item, get_args(kind)[0], beside, f"{place}[{i}]")
    elif all(map(is_typeddict, choices := alternatives(kind))) and isinstance(value, dict):
        amiss = [(len(value.keys() - keys(c)), len(c.__required_keys__ - value.keys())) for c in choices]
        yield from entries(value, choices[amiss.index(min(amiss))], beside, place)
    elif not fits(value, kind, beside):
        yield place, f"{shown(value)} is not {described(kind)}{hint(value, kind, beside)}"


def entries(value, kind, beside: dict, place: str) -> Iterator[tuple[str, str]]:
    """The same for a mapping with declared keys."""
    if not isinstance(value, dict):
        yield place, f"{shown(value)} is not a mapping"
        return
    declared = keys(kind)
    for name in value:
        if name not in declared:
            yield place, f"no parameter '{name}'; {nearest(name, declared)}"
    for name in sorted(kind.__required_keys__ - set(value)):
        yield place, f"'{name}' is missing: {described(declared[name])}"
    for name in declared.keys() & value.keys():
        yield from refusals(value[name], declared[name], beside | value, f"{place}.{name}" if place else name)


def keys(kind) -> dict[str, object]:
    """The keys that a declared setting may have, and what each must be; of any of several declarations."""
    found = {}
    for choice in alternatives(kind):
        for name, annotation in get_type_hints(choice, include_extras=True).items():
            found[name] = get_args(annotation)[0] if get_origin(annotation) is NotRequired else annotation
    return found


def alternatives(kind) -> tuple:
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def fits(value, kind, beside: dict) -> bool:
    if kind is Parameter.empty:  # nothing is declared, as a reader's own file may leave it
        return True
    origin = get_origin(kind)
    if origin is Annotated:
        base, *limits = get_args(kind)
        return fits(value, base, beside) and all(limit.holds(value, beside) for limit in limits)
    if origin in (Union, UnionType):
        return any(fits(value, choice, beside) for choice in get_args(kind))
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in get_args(kind))
    if origin is list:
        return isinstance(value, list) and all(fits(item, get_args(kind)[0], beside) for item in value)
    if origin is tuple:
        wanted = get_args(kind)
        return (
            isinstance(value, list)
            and len(value) == len(wanted)
            and all(fits(item, part, beside) for item, part in zip(value, wanted, strict=True))
        )
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return type(value) is kind and (kind is not int or abs(value) <= LARGEST)


def described(kind) -> str:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        words = described(parts[0])
        for limit in parts[1:]:
            words = limit.words(words)
        return words
    if origin in (Union, UnionType):
        return " or ".join(described(part) for part in parts)
    if origin is Literal:
        return f"one of {', '.join(map(str, parts))}" if len(parts) > 1 else f"'{parts[0]}'"
    if origin is list:
        return f"a list of {described(parts[0])} each"
    if origin is tuple:
        return f"a list of {len(parts)}: {', '.join(described(part) for part in parts)}"
    return "null" if kind is NoneType else PLAIN.get(kind, "a mapping")


def shown(value) -> str:
    """A value as its author may recognise it, shortened."""
    words = {None: "null", True: "true", False: "false"}
    text = words[value] if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def hint(value, kind, beside: dict) -> str:
    """YAML takes `1e-3` for text and `1` for a number; say so where that is what went wrong."""
    if isinstance(value, str):
        for read in (int, float):
            try:
                number = read(value)
            except ValueError:
                continue
            if fits(number, kind, beside):
                return f"; YAML reads it as text, write {number!r} without quotes"
        return ""
    if type(value) is int and abs(value) > LARGEST:
        return f"; whole numbers end at {LARGEST:,}"
    return f"; put '{value}' in quotes" if fits(str(value), kind, beside) else ""


def nearest(name: str, valid) -> str:
    """The words 'did you mean …?' or a list of what would be valid."""
    valid = sorted(map(str, valid))
    close = difflib.get_close_matches(str(name), valid, n=1, cutoff=0.5)
    if close:
        return f"did you mean '{close[0]}'?"
    more = f" and {len(valid) - MOST_LISTED} more" if len(valid) > MOST_LISTED else ""
    return f"valid: {', '.join(valid[:MOST_LISTED]) or 'none'}{more}"
