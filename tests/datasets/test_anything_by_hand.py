"""Anything a person may put into data/raw: refused with a sentence that says where the file belongs, never an exception of
another kind, whatever the parser makes of it."""

import bz2
import copy
import gzip
import lzma
import random

import pytest
from small_files import tarred, zipped

from fedrepro.datasets import DataError
from fedrepro.datasets.decode import prepare
from fedrepro.pipeline.catalogue import declared

NOISE = random.Random(0).randbytes(5000)
NUMBERS = b"1 2:3 4:5\n-1 1:nan 3:x\n" * 40
TABLE = b"a, b, c\n1.0, 2, x\n,,\n" * 40
IDX = b"\0\0\x08\x03" + (2**31).to_bytes(4, "big") * 3 + b"\1" * 50
BODIES = {
    "noise": NOISE,
    "a page": b"<html>please log in</html>",
    "one byte": b"\0",
    "numbers": NUMBERS,
    "a table": TABLE,
    "a table in another encoding": TABLE.replace(b"x", "é".encode("latin-1")),
    "an array that promises too much": IDX,
    "gzip": gzip.compress(TABLE),
    "gzip, cut short": gzip.compress(NOISE)[:-2000],
    "bzip2 of noise": bz2.compress(NOISE),
    "lzma of an array": lzma.compress(IDX),
    "an empty zip": zipped({}),
    "a zip of noise": zipped({"OnlineNewsPopularity.csv": NOISE, "YearPredictionMSD.txt": NOISE}),
    "a tar of noise": tarred({"20_newsgroups/sci.med/1": NOISE, "subj1/bold.nii.gz": NOISE, "subj1/labels.txt": NOISE}),
    "a zip, cut short": zipped({"X.npy": NOISE, "y.npy": NOISE})[:-40],
    "arrays that are none": zipped({"X.npy": NOISE, "y.npy": b"\x93NUMPY\1\0"}),
}  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDREPRO_OFFLINE", "1")
    monkeypatch.setenv("FEDREPRO_MIRROR", str(tmp_path / "nowhere"))


@pytest.mark.parametrize("name", declared()["datasets"])
def test_whatever_lies_there(name, tmp_path, capsys):
    for i, (what, body) in enumerate(BODIES.items()):
        catalogue = copy.deepcopy(declared())
        for entry in catalogue[
            "files"
        ].values():  # as if nothing were pinned, so that the parsers have to cope
            for digest in ("sha256", "md5", "unpacked_sha256"):
                entry.pop(digest, None)
        for variant in catalogue["datasets"][name]["variants"]:
            variant["kind"] = "real"
            for file in variant["files"]:
                path = tmp_path / str(i) / "raw" / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(body)
        with pytest.raises(DataError) as refused:
            prepare(name, catalogue, tmp_path / str(i), "real")
        assert "put it at" in str(refused.value), what
        assert not (tmp_path / str(i) / f"decoded/{name}/meta.json").exists()
    capsys.readouterr()


def test_a_folder_in_its_place_or_a_file_nobody_may_read(tmp_path):
    place = tmp_path / "raw/mushroom/agaricus-lepiota.data"
    place.mkdir(parents=True)
    with pytest.raises(DataError, match="put it at"):
        prepare("mushroom", declared(), tmp_path, "real")
