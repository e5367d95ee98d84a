"""config/datasets.yaml: every file and dataset that can be had, and from where."""

import os
from functools import cache
from pathlib import Path

from fedrepro.config import ROOT, ConfigError, nearest, read_yaml, validate


@cache
def declared(path: Path | None = None) -> dict:
    """The declaration, checked: `files` and `datasets`. FEDREPRO_DATASETS names another file of that form."""
    path = path or Path(os.environ.get("FEDREPRO_DATASETS") or ROOT / "config/datasets.yaml")
    document = validate(read_yaml(path), "datasets", path)
    for name, entry in document["datasets"].items():
        for variant in entry["variants"]:
            for file in variant["files"]:
                if file not in document["files"]:
                    hint = nearest(file, document["files"])
                    raise ConfigError(f"{path}: datasets.{name}: no file '{file}'; {hint}")
    return document


def names() -> list[str]:
    return list(declared()["datasets"])
