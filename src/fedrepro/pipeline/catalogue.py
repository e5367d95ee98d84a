"""config/datasets.yaml: every file and dataset that can be had, and from where."""

import ast
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fedrepro.maths.domains import nearest
from fedrepro.pipeline.config import ROOT
from fedrepro.pipeline.documents import ConfigError, read_yaml, validate


def catalogue_path(root: Path = ROOT) -> Path:
    """FEDREPRO_DATASETS names another file of that form."""
    return Path(os.environ.get("FEDREPRO_DATASETS") or root / "config/datasets.yaml")


@cache
def declared(path: Path | None = None) -> dict:
    """The declaration, checked: `files` and `datasets`."""
    path = path or catalogue_path()
    document = validate(read_yaml(path), "datasets", path)
    for name, entry in document["datasets"].items():
        where = f"{path}: datasets.{name}"
        for i, variant in enumerate(entry["variants"]):
            for file in variant["files"]:
                if file not in document["files"]:
                    raise ConfigError(
                        f"{where}.variants[{i}].files: no file '{file}'; {nearest(file, document['files'])}"
                    )
            check_function(f"{where}.variants[{i}].parser", variant["parser"])
        check_function(f"{where}.standin.generator", entry["standin"]["generator"])
    return document


def check_function(where: str, named: str) -> None:
    """`covtype.parse` is a function of fedrepro/datasets/covtype.py, or a name that module imports."""
    module, _, function = named.rpartition(".")
    known = defined(module)
    if function not in known:
        raise ConfigError(
            f"{where}: no function '{function}' in fedrepro.datasets.{module}; {nearest(function, known)}"
        )


@cache
def defined(module: str) -> tuple[str, ...]:
    """The names a module of fedrepro.datasets has, read off its source; none where there is no such module."""
    try:
        spec = find_spec(f"fedrepro.datasets.{module}")
    except ModuleNotFoundError:
        spec = None
    body = ast.parse(Path(spec.origin).read_text()).body if spec else []
    names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    for node in body:
        if isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.ImportFrom):
            names += [alias.asname or alias.name for alias in node.names]
    return tuple(names)


def names() -> list[str]:
    return list(declared()["datasets"])
