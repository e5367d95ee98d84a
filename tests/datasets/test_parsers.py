"""Each parser reads a small file in its publisher's format, and refuses everything else with a clear
error."""

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_files import COMPRESS, example, idx, images, sha256, sqlite_of_writers, tarred, zipped

from fedrepro.datasets import (
    DataError,
    boston,
    covtype,
    femnist,
    haxby,
    msd,
    mushroom,
    news20,
    online_news,
    w8a,
)
from fedrepro.datasets.readers import idx as idx_format

LIMIT = 5.0


def written(tmp_path, contents: dict[str, bytes]) -> tuple[dict, dict]:
    files = {}
    for name, content in contents.items():
        files[name] = tmp_path / name.replace("/", "_")
        files[name].write_bytes(content)
    return files, dict.fromkeys(files, LIMIT)


def covtype_text(rng, n=30) -> bytes:
    table = np.zeros((n, 55), int)
    table[:, :10] = rng.integers(0, 3000, (n, 10))
    table[np.arange(n), 10 + rng.integers(0, 4, n)] = 1
    table[np.arange(n), 14 + rng.integers(0, 40, n)] = 1
    table[:, 54] = 1 + np.arange(n) % 7
    return "".join(",".join(map(str, row)) + "\n" for row in table).encode()


def mushroom_text(n=20) -> bytes:
    return "".join(
        f"{'ep'[i % 2]},{','.join('abc?'[(i + j) % 4] for j in range(22))}\n" for i in range(n)
    ).encode()


def news_text(rng, url: bool, n=12) -> bytes:
    head = (["url"] if url else []) + ["timedelta", *(f"f{i}" for i in range(58)), "shares"]
    rows = [
        [*(["http://example.org/a"] if url else []), "731.0", *map(str, rng.random(58).round(3)), str(1 + i)]
        for i in range(n)
    ]
    return "\n".join(", ".join(row) for row in [head, *rows]).encode() + b"\n"


@pytest.mark.parametrize("packing", COMPRESS)
def test_covtype_in_any_compression(tmp_path, packing):
    text = covtype_text(np.random.default_rng(0))
    files, limits = written(tmp_path, {"covtype/covtype.data": COMPRESS[packing](text)})
    decoded = covtype.parse(files, limits)
    table = np.array([list(map(int, line.split(","))) for line in text.decode().split()])
    assert np.array_equal(decoded.X, table[:, :54]) and np.array_equal(decoded.y, table[:, 54])
    assert decoded.X.dtype == np.int16


def test_msd_reads_years_and_features(tmp_path):
    rng = np.random.default_rng(0)
    table = np.hstack([rng.integers(1922, 2012, (40, 1)), rng.standard_normal((40, 90)).round(5)])
    text = "".join(f"{int(row[0])}," + ",".join(f"{v:.5f}" for v in row[1:]) + "\n" for row in table).encode()
    decoded = msd.parse(*written(tmp_path, {"msd.zip": zipped({"YearPredictionMSD.txt": text})}))
    assert np.array_equal(decoded.y, table[:, 0])
    np.testing.assert_allclose(decoded.X, table[:, 1:], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "rows, years, taken", [(30, (1922, 2011), 5), (29, (1922, 2011), None), (30, (1930, 2011), None)]
)
def test_msd_rows_are_taken_out_of_the_whole_file_only(tmp_path, monkeypatch, rows, years, taken):
    for name, value in (("ROWS", 30), ("TRAIN", 20), ("SAMPLE", 5)):
        monkeypatch.setattr(msd, name, value)
    text = "".join(
        f"{year}," + ",".join([str(i)] * 90) + "\n"
        for i, year in enumerate(np.linspace(*years, rows, dtype=int))
    )
    given = written(tmp_path, {"msd.zip": zipped({"YearPredictionMSD.txt": text.encode()})})
    if taken is None:
        with pytest.raises(DataError, match="expected 30 of 1922-2011"):
            msd.parse_some(*given)
    else:
        found = msd.parse_some(*given)
        assert found.X.shape == (taken, 90) and found.X.max() < 20 and len(np.unique(found.X)) == taken


@pytest.mark.parametrize("url", [True, False])
def test_online_news_drops_what_is_not_predictive(tmp_path, url):
    text = news_text(np.random.default_rng(0), url)
    if url:
        archive = zipped({"OnlineNewsPopularity/OnlineNewsPopularity.csv": text})
        decoded = online_news.parse(*written(tmp_path, {"n.zip": archive}))
    else:
        decoded = online_news.parse_without_url(*written(tmp_path, {"n.csv": gzip.compress(text)}))
    assert decoded.X.shape == (12, 58) and decoded.y.tolist() == list(range(1, 13))
    np.testing.assert_allclose(decoded.X, np.random.default_rng(0).random((12, 58)).round(3))


def test_boston_in_both_renderings_is_the_same(tmp_path):
    table = np.random.default_rng(0).random((9, 14)).round(4)
    blanks = "".join(" " + "  ".join(f"{v:.4f}" for v in row) + "\n" for row in table).encode()
    csv = ("9,13,,\n" + ",".join(f'"c{i}"' for i in range(14)) + "\n").encode()
    csv += "".join(",".join(f"{v:.4f}" for v in row) + "\n" for row in table).encode()
    one = boston.parse(*written(tmp_path, {"housing.data": blanks}))
    two = boston.parse_csv(*written(tmp_path, {"b.csv": csv}))
    assert np.array_equal(one.X, table[:, :13]) and np.array_equal(one.y, table[:, 13])
    assert np.array_equal(one.X, two.X) and np.array_equal(one.y, two.y)


def test_mushroom_keeps_letters(tmp_path):
    decoded = mushroom.parse(*written(tmp_path, {"m": mushroom_text()}))
    assert decoded.X.shape == (20, 22) and decoded.y.tolist() == [0, 1] * 10
    assert chr(decoded.X[0, 0]) == "a" and chr(decoded.X[0, 3]) == "?"


def test_w8a_train_and_test(tmp_path):
    decoded = w8a.parse(*written(tmp_path, {"w8a": b"-1 1:1 300:1 \n+1 7:1 \n", "w8a.t": b"-1 \n"}))
    assert decoded.X.shape == (3, 300) and decoded.X.sum() == 3 and decoded.X[0, 299] == 1
    assert decoded.y.tolist() == [-1, 1, -1] and decoded.split.tolist() == [0, 0, 1]


def test_news20_checks_unit_length(tmp_path):
    decoded = news20.parse(*written(tmp_path, {"n": b"+1 1:0.6 1355191:0.8\n-1 5:1\n"}))
    assert decoded.X.shape == (2, 1_355_191) and decoded.X.nnz == 3 and decoded.X.indices.dtype == np.int32
    with pytest.raises(DataError, match="unit length"):
        news20.parse(*written(tmp_path, {"n": b"+1 1:0.6\n"}))


GROUPS = [f"{kind}.{i}" for kind, n in (("comp", 5), ("sci", 4), ("rec", 4), ("talk", 4)) for i in range(n)]
GROUPS += ["misc.forsale", "alt.atheism", "soc.religion.christian"]


def newsgroups(bodies: dict[str, list[bytes]] | None = None) -> bytes:
    bodies = bodies or {
        g: [f"text of {g.split('.')[0]} number {i}".encode() for i in range(3)] for g in GROUPS
    }
    return tarred({
        f"20_newsgroups/{g}/{i}": b"Newsgroups: " + g.encode() + b"\nFrom: secret\n\n" + body
        for g, texts in bodies.items() for i, body in enumerate(texts)
    })  # fmt: skip


def test_newsgroups_cut_headers_group_copies_and_have_unit_rows(tmp_path):
    decoded = news20.parse_newsgroups(*written(tmp_path, {"n.tar.gz": newsgroups()}))
    assert decoded.X.shape[0] == 60 and (decoded.y == 1).sum() == 30
    np.testing.assert_allclose(decoded.X.multiply(decoded.X).sum(axis=1), 1, rtol=1e-6)
    # The five comp groups hold the same texts: copies share a group, whatever their class or newsgroup.
    comp = decoded.groups[
        np.isin(decoded.extra["topic"], [i for i, g in enumerate(sorted(GROUPS)) if "comp" in g])
    ]
    assert len(np.unique(comp)) == 3
    # Columns: words and bigrams of the bodies; nothing of the headers (else "newsgroups" and "secret" add
    # columns).
    words = {f"text of {g.split('.')[0]} number" for g in GROUPS}
    vocabulary = {w for text in words for w in text.split()}
    bigrams = {b for text in words for b in zip(text.split(), text.split()[1:], strict=False)}
    assert decoded.X.shape[1] == len(vocabulary) + len(bigrams)
    with pytest.raises(DataError, match="expected 20"):
        news20.parse_newsgroups(*written(tmp_path, {"n.tar.gz": newsgroups({"comp.a": [b"x y"]})}))


def mnist_files(rng, train=40, test=20) -> dict[str, bytes]:
    (X, y), (Xt, yt) = images(rng, train), images(rng, test)
    names = ("train-images", "train-labels", "test-images", "test-labels")
    return dict(zip(names, map(idx, (X, y, Xt, yt)), strict=True))


def test_idx_images(tmp_path):
    contents = mnist_files(np.random.default_rng(0))
    decoded = idx_format.parse(*written(tmp_path, {k: gzip.compress(v) for k, v in contents.items()}))
    assert decoded.X.shape == (60, 784) and decoded.split.sum() == 20
    assert np.array_equal(decoded.X[0], np.frombuffer(contents["train-images"], np.uint8, 784, 16))


def test_emnist_turns_images_upright_and_checks_each_member(tmp_path):
    (X, y), (Xt, yt) = images(np.random.default_rng(0), 30), images(np.random.default_rng(1), 10)
    parts = dict(zip(idx_format.EMNIST_DIGITS, map(idx, (X, y, Xt, yt)), strict=True))
    members = {f"gzip/emnist-digits-{k}-ubyte.gz": gzip.compress(v) for k, v in parts.items()}
    digests = {k: sha256(m) for k, m in zip(parts, members.values(), strict=True)}
    files, limits = written(tmp_path, {"gzip.zip": zipped(members)})
    decoded = idx_format.parse_emnist(files, limits, digests)
    assert np.array_equal(decoded.X[0].reshape(28, 28), X[0].T)
    with pytest.raises(DataError, match="expected sha256"):
        idx_format.parse_emnist(files, limits)


def test_mnist_by_writer_joins_images_and_writers(tmp_path):
    contents = mnist_files(np.random.default_rng(0))
    for part, n, first in (
        ("train", 40, 500),
        ("test", 25, 900),
    ):  # QMNIST's test file is longer than MNIST's
        table = np.zeros((n, 8), np.int32)
        table[:, 0], table[:, 2] = np.arange(n) % 10, first + np.arange(n) // 5
        contents[f"qmnist-{part}"] = gzip.compress(idx(table))
    decoded = femnist.parse_mnist_by_writer(*written(tmp_path, contents))
    assert decoded.groups.tolist() == [i // 5 for i in range(40)] + [8 + i // 5 for i in range(20)]
    wrong = dict(contents, **{"qmnist-train": gzip.compress(idx(np.full((40, 8), 3, np.int32)))})
    with pytest.raises(DataError, match="labels"):
        femnist.parse_mnist_by_writer(*written(tmp_path, wrong))


def federated_rows(rng) -> list[tuple[str, str, bytes]]:
    pixel = rng.integers(0, 256, (12, 784)) / 255
    writers = ["f02", "f01", "f02", "f01", "f00", "f00"]
    rows = [("all_train", w, example(pixel[i], i * 10)) for i, w in enumerate(writers)]
    rows += [("all_test", w, example(pixel[6 + i], i)) for i, w in enumerate(writers)]
    return [
        *rows,
        ("digits_only_train", "f00", example(pixel[0], 3)),
        ("digits_only_test", "f00", example(pixel[1], 4)),
    ]


def test_federated_emnist_by_split_and_writer(tmp_path):
    packed = sqlite_of_writers(tmp_path / "db", federated_rows(np.random.default_rng(0)))
    files, limits = written(tmp_path, {"emnist.lzma": packed})
    decoded = femnist.parse_all(files, limits)
    assert decoded.groups.tolist() == [0, 0, 1, 1, 2, 2] * 2 and decoded.split.tolist() == [0] * 6 + [1] * 6
    assert decoded.y.tolist() == [40, 50, 10, 30, 0, 20, 4, 5, 1, 3, 0, 2]
    pixel = np.random.default_rng(0).integers(0, 256, (12, 784))
    assert np.array_equal(decoded.X[4], 255 - pixel[0])  # ink is bright
    assert femnist.parse_digits(files, limits).y.tolist() == [3, 4]


def haxby_archive(nibabel, rng, tmp_path, runs=2, grid=haxby.GRID) -> bytes:
    labels = ["rest", "face", "face", "house", "house", "cat"] * runs
    run = np.repeat(np.arange(runs), 6)
    bold = rng.integers(200, 900, (*grid, len(labels))).astype(np.int16)
    nibabel.save(nibabel.Nifti1Image(bold, np.diag([3.5, 3.75, 3.75, 1])), tmp_path / "bold.nii.gz")
    text = "labels chunks\n" + "".join(f"{a} {b}\n" for a, b in zip(labels, run, strict=True))
    return tarred(
        {"subj1/bold.nii.gz": (tmp_path / "bold.nii.gz").read_bytes(), "subj1/labels.txt": text.encode()}
    )


@pytest.fixture(scope="module")
def brain(tmp_path_factory):
    """A mask and one subject with two sessions, in the publisher's form."""
    import nibabel

    folder = tmp_path_factory.mktemp("brain")
    inside = np.zeros(haxby.GRID, np.int16)
    inside[10:13, 20:25, 30:32] = 1
    nibabel.save(nibabel.Nifti1Image(inside, np.diag([3.5, 3.75, 3.75, 1])), folder / "mask.nii.gz")
    archive = haxby_archive(nibabel, np.random.default_rng(0), folder)
    return inside, (folder / "mask.nii.gz").read_bytes(), archive


def test_haxby_masks_standardises_by_session_and_keeps_faces_and_houses(tmp_path, brain):
    inside, mask, archive = brain
    files, limits = written(tmp_path, {"mask.nii.gz": mask, "subj1.tar.gz": archive, "subj2.tar.gz": archive})
    decoded = haxby.parse(files, dict.fromkeys(limits, 50))
    assert decoded.X.shape == (16, 30) and decoded.y.tolist() == [1, 1, 0, 0] * 4
    assert decoded.groups.tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4
    assert decoded.split.tolist() == [0] * 8 + [1] * 8
    bold = np.random.default_rng(0).integers(200, 900, (*haxby.GRID, 12)).astype(np.int16)
    session = bold[inside == 1][:, :6].T.astype(float)
    expected = (session - session.mean(0)) / session.std(0, ddof=1)
    np.testing.assert_allclose(decoded.X[:4], expected[1:5], rtol=1e-3, atol=1e-4)
    assert np.array_equal(
        decoded.extra["voxel"], np.flatnonzero(inside == 1)
    )  # where the columns lie in the brain


def test_haxby_refuses_a_missing_member_and_another_grid(tmp_path, brain):
    import nibabel

    _, mask, _ = brain
    files, limits = written(
        tmp_path, {"mask.nii.gz": mask, "subj1.tar.gz": tarred({"subj1/labels.txt": b"a 0\n"})}
    )
    with pytest.raises(DataError, match=r"bold\.nii\.gz"):
        haxby.parse(files, limits)
    nibabel.save(nibabel.Nifti1Image(np.ones((3, 3, 3), np.int16), np.eye(4)), tmp_path / "small.nii.gz")
    files["mask.nii.gz"] = tmp_path / "small.nii.gz"
    with pytest.raises(DataError, match="grid"):
        haxby.parse(files, limits)


def subject1(tmp_path, **changes) -> tuple[dict, dict]:
    rng = np.random.default_rng(0)
    arrays = {
        "X": rng.integers(300, 900, (24, 5)).astype(np.int16),
        "category": np.tile(["face", "house", "cat", "shoe"], 6),
        "run": np.repeat(np.arange(3, dtype=np.int16), 8),
        "ijk0": np.array([[i, 10 + i, 20] for i in range(5)], np.int16),
    } | changes
    np.savez(tmp_path / "s.npz", **arrays)
    return {"s.npz": tmp_path / "s.npz"}, {"s.npz": LIMIT}


def test_haxby_subject1(tmp_path):
    decoded = haxby.parse_subject1(*subject1(tmp_path))
    assert decoded.X.shape == (12, 5) and decoded.y.tolist() == [1, 0] * 6
    assert decoded.split.tolist() == [0] * 4 + [1] * 8 and np.unique(decoded.groups).tolist() == [0, 1, 2]
    for bad in ({"ijk0": np.full((5, 3), 64)}, {"run": np.arange(3)}, {"X": np.array([{}], object)}):
        with pytest.raises(DataError):
            haxby.parse_subject1(*subject1(tmp_path, **bad))


PARSERS = {
    "covtype": (covtype.parse, lambda: {"c": covtype_text(np.random.default_rng(0))}),
    "mushroom": (mushroom.parse, lambda: {"m": mushroom_text()}),
    "online_news": (online_news.parse_without_url, lambda: {"n": news_text(np.random.default_rng(0), False)}),
    "boston": (boston.parse, lambda: {"b": b" 1.5  2\n"}),
    "boston csv": (boston.parse_csv, lambda: {"b": b"1,13\na,b\n" + b",".join([b"1"] * 14) + b"\n"}),
    "w8a": (w8a.parse, lambda: {"a": b"-1 1:1 300:1 \n+1 7:1 \n", "t": b"-1 \n"}),
    "news20": (news20.parse, lambda: {"n": b"+1 1:0.6 1355191:0.8\n-1 5:1\n"}),
    "newsgroups": (news20.parse_newsgroups, lambda: {"n": newsgroups()}),
    "msd": (
        msd.parse,
        lambda: {"m": zipped({"YearPredictionMSD.txt": b"2001," + b",".join([b"1"] * 90) + b"\n"})},
    ),
    "idx": (idx_format.parse, lambda: mnist_files(np.random.default_rng(0), 2, 1)),
    "emnist": (
        idx_format.parse_emnist,
        lambda: {"e": zipped({"gzip/emnist-digits-train-images-idx3-ubyte.gz": b"x"})},
    ),
}


@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_parser_crashes_on_damaged_or_foreign_bytes(tmp_path, name, data):
    """Bytes flipped, cut, inserted or replaced: a clear error, or arrays that still fit together."""
    parse, make = PARSERS[name]
    contents = make()
    victim = data.draw(st.sampled_from(sorted(contents)))
    body = bytearray(contents[victim])
    kind = data.draw(st.sampled_from(["flip", "cut", "insert", "foreign"]))
    at = data.draw(st.integers(0, max(0, len(body) - 1)))
    if kind == "flip" and body:
        body[at] ^= data.draw(st.integers(1, 255))
    elif kind == "cut":
        del body[at:]
    elif kind == "insert":
        body[at:at] = data.draw(st.binary(min_size=1, max_size=12))
    else:
        body = bytearray(data.draw(st.binary(max_size=200)))
    files, limits = written(tmp_path, contents | {victim: bytes(body)})
    try:
        decoded = parse(files, limits)
    except DataError as error:
        assert str(error)
        return
    n = decoded.X.shape[0]
    assert decoded.X.ndim == 2 and len(decoded.y) == n
    assert decoded.groups is None or len(decoded.groups) == n
    assert decoded.split is None or len(decoded.split) == n


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=st.binary(max_size=120), at=st.integers(0, 3000), value=st.integers(0, 255))
def test_no_example_message_crashes_the_reader(message, at, value):
    good = bytearray(example(np.zeros(784), 3))
    good[at % len(good)] = value
    for content in (message, bytes(good)):
        try:
            pixels, label = femnist.read_example(content, "e")
        except DataError:
            continue
        assert pixels.shape == (784,) and isinstance(label, int)


@pytest.mark.parametrize(
    "content",
    [b"", b"1,2\n", b"1," * 54 + b"x\n", b"1," * 54 + b"\n", covtype_text(np.random.default_rng(0))[:-40]],
)
def test_wrong_tables_are_refused(tmp_path, content):
    with pytest.raises(DataError):
        covtype.parse(*written(tmp_path, {"c": content}))


def test_a_federated_file_that_is_not_sqlite_is_refused(tmp_path):
    import lzma

    for content in (b"", b"junk", lzma.compress(b"SQLite format 3\0 but no more")):
        with pytest.raises(DataError):
            femnist.parse_all(*written(tmp_path, {"e": content}))
