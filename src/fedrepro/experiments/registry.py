"""What the papers contribute, by paper and name, without anybody importing a paper: problems, figures, claims.

A registry is a decorator. `@figure("fig8")` in papers/shed/figures.py, or in a module of the package
papers/shed/figures/, puts the function under ("shed", "fig8"). Which names there are is read off the source; looking one
up imports the module it is in and no other, so that a solver job never loads a figure.
"""

import ast
import importlib
import importlib.util
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

PAPERS = "fedrepro.papers"


class Registry:
    def __init__(self, word: str, kind: str):
        self.word = word  # the decorator's name
        self.kind = kind  # the module, or package of modules, in which a paper keeps these
        self.found: dict[tuple[str, str], Callable] = {}

    def __call__(self, name: str | None = None) -> Callable:
        """Decorate a function: it is called `name`, or by its own name."""

        def register(function):
            paper = function.__module__.removeprefix(f"{PAPERS}.").partition(".")[0]
            self.found[paper, name or function.__name__] = function
            return function

        return register

    def names(self, paper: str) -> dict[str, str]:
        """Name -> module, of all that a paper has."""
        return {name: module for module in modules(paper, self.kind) for name in decorated(module, self.word)}

    def get(self, paper: str, name: str) -> Callable:
        known = self.names(paper)
        if name not in known:
            there = ", ".join(known) or "none"
            raise LookupError(f"no {self.word} '{name}' in papers/{paper}/{self.kind}; there are {there}")
        importlib.import_module(known[name])
        return self.found[paper, name]


@cache
def modules(paper: str, kind: str) -> tuple[str, ...]:
    """The paper's module of a kind, or the modules of its package of that name."""
    top = f"{PAPERS}.{paper}.{kind}"
    if importlib.util.find_spec(f"{PAPERS}.{paper}") is None or not (spec := importlib.util.find_spec(top)):
        return ()
    inside = spec.submodule_search_locations or []
    return (top, *(f"{top}.{info.name}" for info in pkgutil.iter_modules(inside)))


@cache
def decorated(module: str, word: str) -> tuple[str, ...]:
    """The names given by `@word(name)`, or `@word()` and the function's own, in a module's source."""
    names = []
    for node in ast.parse(Path(importlib.util.find_spec(module).origin).read_text()).body:
        for mark in getattr(node, "decorator_list", []):
            if isinstance(mark, ast.Call) and getattr(mark.func, "id", None) == word:
                names.append(mark.args[0].value if mark.args else node.name)
    return tuple(names)


problem = Registry("problem", "problems")
figure = Registry("figure", "figures")
claim = Registry("claim", "claims")
evidence = Registry("evidence", "claims")  # for the slips of a paper's text
