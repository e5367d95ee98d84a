"""news20.binary (LIBSVM): Usenet posts as sparse unit vectors, two balanced groups of newsgroups.

The relative is the collection it was made from, the 20 newsgroups (Lang 1995), turned into a problem of the
same kind here: headers cut, words and pairs of neighbouring words, presence scaled to unit length.
"""

import numpy as np
import scipy.sparse

from fedrepro.datasets import DataError, Decoded
from fedrepro.datasets.readers.libsvm import read_libsvm
from fedrepro.datasets.transport.archives import read_unpacked, tar_members

ROWS, COLUMNS, NONZEROS = 19_996, 1_355_191, 9_097_916
POSITIVE = 9_999


def parse(files: dict, limits: dict) -> Decoded:
    (name,) = files
    X, y = read_libsvm(read_unpacked(files[name], limits[name]), name, COLUMNS)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
    if not np.allclose(lengths, 1, atol=1e-3):
        raise DataError(f"{name}: rows are not of unit length")
    return Decoded(compact(X), y)


def compact(X) -> scipy.sparse.csr_array:
    X = scipy.sparse.csr_array(X)
    X.sort_indices()
    return scipy.sparse.csr_array(
        (X.data.astype(np.float32), X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape
    )


def parse_newsgroups(files: dict, limits: dict) -> Decoded:
    """y is +1 for comp.*, sci.* and misc.forsale, -1 for the other ten groups: the split whose counts (10,000
    and 9,997) agree with news20.binary's (9,999 and 9,997).

    Cross-posts make 525 sets of identical posts, most of them across classes. `groups` numbers the distinct
    bodies, so that a train/validation split can keep copies on one side. extra["topic"] is the newsgroup.
    """
    (name,) = files
    posts = sorted(read_posts(files[name], name, limits[name]))
    topics = sorted({topic for topic, _, _ in posts})
    if len(topics) != 20:
        raise DataError(f"{name}: {len(topics)} newsgroups, expected 20")
    bodies = [body for _, _, body in posts]
    topic = np.array([topics.index(t) for t, _, _ in posts], np.int8)
    technical = np.array([t.startswith(("comp.", "sci.")) or t == "misc.forsale" for t in topics])
    y = np.where(technical[topic], 1, -1).astype(np.int8)
    groups = np.unique(np.array([hash_of(body) for body in bodies]), return_inverse=True)[1].astype(np.int32)
    return Decoded(vectorise(bodies), y, groups, extra={"topic": topic})


def read_posts(path, name: str, limit_mb: float):
    for member, stream in tar_members(path, limit_mb):
        parts = member.split("/")
        if len(parts) < 2:
            raise DataError(f"{name}: '{member}' is not in a newsgroup's folder")
        _, _, body = (
            stream.read().replace(b"\r\n", b"\n").partition(b"\n\n")
        )  # the headers give the class away
        yield parts[-2], parts[-1], body.decode("latin-1")


def hash_of(body: str) -> str:
    import hashlib

    return hashlib.sha256(body.encode("latin-1")).hexdigest()


def vectorise(bodies: list[str]) -> scipy.sparse.csr_array:
    """All words and bigrams, as presence, each row of unit length (a post without a word stays empty)."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectoriser = CountVectorizer(ngram_range=(1, 2), binary=True, dtype=np.float32)
    try:
        X = scipy.sparse.csr_array(vectoriser.fit_transform(bodies))
    except ValueError as error:
        raise DataError(f"the posts hold no words to count ({error})") from None
    lengths = np.sqrt(np.maximum(np.diff(X.indptr), 1)).astype(np.float32)
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    return compact(X)


def standin(rng: np.random.Generator) -> Decoded:
    """Posts of log-normal length over a Zipf vocabulary; each class has favourite words."""
    y = rng.permutation(np.repeat(np.array([1, -1], np.int8), (POSITIVE, ROWS - POSITIVE)))
    length = rng.lognormal(0, 1.0, ROWS)
    length = np.maximum(1, 1.245 * NONZEROS * length / length.sum()).astype(
        np.int64
    )  # repeats fall out below
    row = np.repeat(np.arange(ROWS), length)
    rank = np.exp(rng.random(len(row)) ** 0.8 * np.log(COLUMNS)).astype(np.int64) - 1  # density ~ 1/rank
    # a third of the words come in two spellings, one for each class
    topical = (rank % 3 == 0) & (rank > 100) & (rng.random(len(row)) < 0.6)
    word = np.where(topical, rank - rank % 2 + (y[row] > 0), rank).clip(0, COLUMNS - 1)
    key = np.sort(row * COLUMNS + rng.permutation(COLUMNS)[word])
    key = key[np.concatenate([[True], key[1:] != key[:-1]])]  # faster than np.unique, which hashes first
    row, column = np.divmod(key, COLUMNS)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=ROWS))]).astype(np.int32)
    data = np.repeat(1 / np.sqrt(np.maximum(np.diff(indptr), 1)), np.diff(indptr)).astype(np.float32)
    X = scipy.sparse.csr_array((data, column.astype(np.int32), indptr), shape=(ROWS, COLUMNS))
    return Decoded(X, y)
