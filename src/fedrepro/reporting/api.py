"""docs/api.md: the library without the pipeline, from its type hints and docstrings."""

import inspect
import re
from collections.abc import Callable, Iterator

import fedrepro
from fedrepro import algorithms
from fedrepro.maths import domains, losses, proxes

HEAD = """\
# The library
Made by `fedrepro api` from type hints and docstrings. The README has ten lines that use it.
"""


def page() -> str:
    """The whole page, as Markdown."""
    parts, known = [HEAD], set()
    for name in fedrepro.__all__:
        thing = getattr(fedrepro, name)
        parts += class_parts(thing, known) if inspect.isclass(thing) else [function_part(name, thing)]
    parts.append(f"## Losses\n{words(losses)}\n\nThe names that `loss=` takes:\n")
    parts += [item(name, kind) for name, kind in losses.LOSSES.items()]
    parts.append(f"\n## Proxes\n`{proxes.__name__}`. {words(proxes)}\n")
    parts += [item(f"{name}{signature(thing)}", thing) for name, thing in own(proxes)]
    offered = fedrepro.Clients.offers()
    found = {name: algorithms.get(name) for name in algorithms.names()}
    fitting = {name: function for name, function in found.items() if function.needs <= offered}
    parts.append(
        f"\n## Algorithms\nThe names that `run` takes with `Clients`, and their parameters. "
        f"{len(found) - len(fitting)} more, in `src/fedrepro/algorithms/`, need clients of another kind.\n"
    )
    parts += [algorithm_part(name, function) for name, function in fitting.items()]
    return "\n".join(parts).rstrip() + "\n"


def own(module) -> Iterator[tuple[str, object]]:
    """The classes and functions that a module defines, in its order, private ones left out."""
    for name, thing in vars(module).items():
        ours = getattr(thing, "__module__", None) == module.__name__ and not name.startswith("_")
        if ours and (inspect.isclass(thing) or inspect.isfunction(thing)):
            yield name, thing


def item(code: str, thing) -> str:
    """A line of a list; what has no words of its own has the name of what it is a kind of."""
    told = words(thing) or (f"a {thing.__base__.__name__}" if inspect.isclass(thing) else "")
    return f"- `{code}`" + f": {' '.join(told.split())}" * bool(told)


def function_part(name: str, function: Callable, level: str = "##") -> str:
    return f"{level} {name}\n```python\n{name}{signature(function)}\n```\n{words(function)}\n"


def class_parts(kind: type, known: set) -> list[str]:
    """A class and its methods; those that a class before it has already shown are left out."""
    parts = [f"## {kind.__name__}\n{words(kind)}\n"]
    for name in dir(kind):
        function = getattr(kind, name)
        raw = getattr(function, "__func__", function)
        if name.startswith("_") or not inspect.isroutine(function) or not inspect.getdoc(raw) or raw in known:
            continue
        known.add(raw)
        parts.append(function_part(f"{kind.__name__}.{name}", function, "###"))
    return parts


def algorithm_part(name: str, function: Callable) -> str:
    lines = [f"### {name}", words(inspect.getmodule(function)), "", words(function), ""]
    for parameter in algorithms.parameters(function).values():
        kind = parameter.annotation
        told = "" if kind is parameter.empty else ": " + re.sub(r"([*<])", r"\\\1", domains.described(kind))
        default = "" if parameter.default is parameter.empty else f" (default `{parameter.default!r}`)"
        lines.append(f"- `{parameter.name}`{told}{default}")
    return re.sub(r"\n{3,}", "\n\n", "\n".join([*lines, ""]))


def signature(thing: Callable) -> str:
    """As it is written, without the names of modules; '' for a class that takes nothing."""
    if inspect.isclass(thing) and thing.__init__ is object.__init__:
        return ""
    given = inspect.signature(thing)
    given = given.replace(parameters=[p for p in given.parameters.values() if p.name != "self"])
    if inspect.isclass(thing):
        given = given.replace(return_annotation=given.empty)
    return re.sub(r"\b(?:numpy|collections\.abc|fedrepro(?:\.\w+)*|pathlib|typing)\.(?=\w)", "", str(given))


def words(thing) -> str:
    """A docstring of its own; '' where there is none, or only the one that a dataclass writes itself."""
    found = inspect.cleandoc(thing.__doc__ or "")
    return "" if inspect.isclass(thing) and found.startswith(f"{thing.__name__}(") else found
