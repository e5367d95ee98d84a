"""The code a job depends on, as a hash: Snakemake sees neither the modules a script imports nor what they import."""

import ast
import hashlib
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fedrepro.pipeline.documents import ConfigError

PACKAGE = "fedrepro"
ROOT = Path(__file__).resolve().parents[3]


@cache
def _imports(module: str) -> tuple[Path, frozenset[str]]:
    """The file of a module of ours, or of a script below ROOT, and the modules of ours it imports, read without
    running it."""
    path = ROOT / module if module.endswith(".py") else _file(module)
    try:
        return path, imported(ast.parse(path.read_bytes()), package(module, path))
    except SyntaxError as error:
        raise ConfigError(f"{path}, line {error.lineno}: not valid Python ({error.msg})") from None
    except ValueError as error:  # what Python 3.11 says of a null byte
        raise ConfigError(f"{path}: not valid Python ({error})") from None


def package(module: str, path: Path) -> list[str]:
    """Where a module's relative imports begin."""
    parts = module.split(".")
    return parts if path.name == "__init__.py" else parts[:-1]


def imported(tree: ast.Module, here: list[str] | None = None) -> frozenset[str]:
    """The modules of ours that some source imports; `here` is the package it lies in."""
    found = set()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = (here or [])[: len(here or []) + 1 - node.level] if node.level else []
            name = ".".join([*above, *filter(None, [node.module])])
            found |= {name} | {f"{name}.{a.name}" for a in node.names}
    ours = {n for n in found if n.split(".")[0] == PACKAGE and n != PACKAGE}
    return frozenset(n for n in ours if _file(n))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node. None is in an expression, which is most of a tree."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        inside = getattr(node, name, ())
        for child in inside if isinstance(inside, list) else ():
            yield child
            yield from statements(child)


@cache
def _file(module: str) -> Path | None:
    """Where a module of ours lies, if there is one of that name. Python's own search would import what is above it."""
    top, *rest = module.split(".")
    for place in importlib.util.find_spec(top).submodule_search_locations:
        path = Path(place, *rest)
        for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
            if file.exists():
                return file
    return None


@cache
def code_hash(*modules: str) -> str:
    """A hash of these modules (or scripts, `workflow/scripts/run_block.py`), of every module of ours they import,
    directly or not, of other files that lie beside these for them to read, and of the locked versions of all else."""
    todo, seen = list(modules), {}
    while todo:
        name = todo.pop()
        if name not in seen:
            seen[name], more = _imports(name)
            todo += more
    digest = hashlib.sha256(lock())
    for name in sorted(seen):
        digest.update(_content(name, seen[name]))
    return digest.hexdigest()[:16]


@cache
def _content(name: str, path: Path) -> bytes:
    return b"".join(name.encode() + b"\0" + file.read_bytes() for file in (path, *beside(path)))


def beside(path: Path) -> list[Path]:
    """The files in the same folder that a module names: page.py reads page.html, page.css and explorer.js."""
    names = sorted(set(re.findall(rb"\"([\w-]+\.(?:html|css|js))\"", path.read_bytes())))
    return [other for name in names if (other := path.with_name(name.decode())).exists()]


@cache
def lock() -> bytes:
    """The versions that were resolved, without which the same code is not the same."""
    path = ROOT / "envs/requirements.lock"
    return path.read_bytes() if path.exists() else b""
