"""With the mirror beside the project: the pinned content of every file in it. Skipped where there is no
mirror."""

import time

import numpy as np
import pytest

from fedrepro import datasets
from fedrepro.datasets import msd, mushroom, preprocess
from fedrepro.datasets.decode import prepare
from fedrepro.pipeline.catalogue import declared
from fedrepro.pipeline.config import ROOT

MIRROR = ROOT.parent / "shared/data"
pytestmark = pytest.mark.skipif(not MIRROR.is_dir(), reason="no mirror at ../shared/data")

ORIGINS = {
    "online-news": "relative",
    "fmnist": "mirror",
    "emnist-digits": "relative",
    "w8a": "mirror",
    "haxby": "relative",
    "femnist": "relative",
    "mnist": "mirror",
    "boston": "mirror",
    "mushroom": "mirror",
}


@pytest.fixture
def mirrored(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDREPRO_MIRROR", str(MIRROR))
    monkeypatch.setenv("FEDREPRO_OFFLINE", "1")
    return tmp_path


@pytest.mark.parametrize("name", ORIGINS)
def test_mirrored_files_decode_to_their_pinned_content(mirrored, name):
    meta = prepare(name, declared(), mirrored)
    assert meta["origin"] == ORIGINS[name] and meta["verified"] == "pinned content"
    assert datasets.load(name, mirrored).checksum == meta["checksum"]


def test_covtype_is_decoded_in_seconds(mirrored):
    started = time.process_time()
    assert prepare("covtype", declared(), mirrored)["verified"] == "pinned content"
    assert time.process_time() - started < 15  # 2 s on an idle core


def test_mushroom_has_99_columns_with_ones(mirrored):
    prepare("mushroom", declared(), mirrored)
    X = datasets.load("mushroom", mirrored).X
    complete = preprocess.without_missing(X, mushroom.MISSING)
    assert preprocess.with_ones(preprocess.one_hot(X[complete])).shape == (5644, 99)
    assert preprocess.with_ones(preprocess.one_hot(X)).shape == (8124, 118)


def test_writers_do_not_cross_the_split(mirrored):
    prepare("femnist-digits", declared(), mirrored)
    dataset = datasets.load("femnist-digits", mirrored)
    writers = [set(dataset.groups[rows].tolist()) for rows in (dataset.train, dataset.test)]
    assert [len(w) for w in writers] == [539, 297] and not writers[0] & writers[1]


def test_the_msd_parser_reads_the_published_rows():
    content = (MIRROR / "msd-sample/YearPredictionMSD_1176rows.csv").read_bytes()
    decoded = msd.read_table(content, "sample")
    assert decoded.X.shape == (1176, 90) and decoded.y.min() == 1930 and decoded.y.mean() == 1998.125
    np.testing.assert_allclose(decoded.X.mean(0)[:3], [42.7984601, -2.44632408, 8.68321736], rtol=1e-5)
    # the stand-in's constants are these rows' statistics
    np.testing.assert_allclose(decoded.X.mean(0), msd.MEAN, rtol=0.05, atol=0.6)
    np.testing.assert_allclose(decoded.X.std(0), msd.DEVIATION, rtol=0.03)
