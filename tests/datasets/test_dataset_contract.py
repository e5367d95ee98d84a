"""What every entry of config/datasets.yaml must satisfy. A new one is tested without being listed.

That stand-ins have the declared shapes is in test_standins.py, which also runs over every entry.
"""

import inspect
import pkgutil

import pytest

from fedrepro import datasets
from fedrepro.datasets import decode
from fedrepro.pipeline.catalogue import declared
from fedrepro.pipeline.config import ROOT, load

ENTRIES, FILES = declared()["datasets"], declared()["files"]
DIGESTS = {"sha256", "md5", "unpacked_sha256"}
VARIANTS = [(name, variant) for name, entry in ENTRIES.items() for variant in entry["variants"]]


def arguments(path: str) -> list[str]:
    return [
        p.name
        for p in inspect.signature(decode.function_of(path)).parameters.values()
        if p.default is p.empty
    ]


@pytest.mark.parametrize("name", ENTRIES)
def test_parsers_and_stand_in_are_functions_of_documented_modules(name):
    entry = ENTRIES[name]
    assert arguments(entry["standin"]["generator"]) == ["rng"]
    for variant in entry["variants"]:
        assert arguments(variant["parser"]) == ["files", "limits"]
        module = inspect.getmodule(decode.function_of(variant["parser"]))
        assert inspect.getdoc(module) and module.__name__.startswith(datasets.__name__)


@pytest.mark.parametrize("name, variant", VARIANTS, ids=lambda v: v if isinstance(v, str) else v["kind"])
def test_something_vouches_for_the_bytes(name, variant):
    """A digest of every file, or of the decoded content, or at least its shape and range; for rows taken out of a
    dataset's file, those of the whole, which their parser looks at first."""
    files = [FILES[file] for file in variant["files"]]
    if not (variant.get("content") or all(DIGESTS & set(file) for file in files)):
        of_these_files = [v["expect"] for _, v in VARIANTS if v["files"] == variant["files"]]
        assert any({"rows", "columns"} < set(expect) for expect in of_these_files)
    assert all(file["digest_source"] for file in files)


@pytest.mark.parametrize("name", ENTRIES)
def test_the_papers_own_data_come_first_and_relatives_have_names_of_their_own(name):
    first, *others = ENTRIES[name]["variants"]
    assert first["kind"] == "real"
    for other in others:
        assert other["kind"] == "real" or other["title"] != ENTRIES[name]["title"]


@pytest.mark.parametrize("name", ENTRIES)
def test_an_experiment_uses_it(name):
    config = load({"scale": "smoke"}, ROOT)
    assert name in {block.experiment.dataset for block in config.blocks}


def test_no_file_or_module_is_left_over():
    assert set(FILES) == {file for _, variant in VARIANTS for file in variant["files"]}
    paths = [variant["parser"] for _, variant in VARIANTS]
    paths += [entry["standin"]["generator"] for entry in ENTRIES.values()]
    used = {path.split(".")[0] for path in paths}
    machinery = {"transport", "readers", "decode", "files", "partition", "preprocess"}
    assert {info.name for info in pkgutil.iter_modules(datasets.__path__)} == used | machinery
