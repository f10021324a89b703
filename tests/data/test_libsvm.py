"""The LIBSVM parser against scikit-learn's and against Python's float()."""

import bz2
import gzip
import io
import lzma
import re
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from aucbench import DataError, ParameterError
from aucbench.data import load
from aucbench.data.readers import libsvm
from aucbench.data.readers.libsvm import read_blocks
from aucbench_datasets.user_files import Libsvm


def parse(path, block_bytes=64):
    """(indptr, indices, values, labels) of a file."""
    blocks = [block for block in read_blocks(path, block_bytes) if block.X.shape[0]]
    width = max(1, *(block.X.shape[1] for block in blocks))
    for block in blocks:
        block.X.resize(block.X.shape[0], width)
    X = sparse.vstack([block.X for block in blocks], "csr")
    labels = np.concatenate([np.array(block.labels.distinct)[block.labels.codes] for block in blocks])
    return X.indptr, X.indices, X.data, labels


def assert_same_as_sklearn(ours, source):
    X, y = load_svmlight_file(source, zero_based=False)
    indptr, indices, values, labels = ours
    np.testing.assert_array_equal(indptr, X.indptr)
    np.testing.assert_array_equal(indices, X.indices)
    np.testing.assert_array_equal(values.view(np.int64), X.data.view(np.int64))
    np.testing.assert_array_equal(labels, y)


LIKELY = st.text("0123456789:.+-e# \t\r\n", max_size=60).map(str.encode)
PIECES = st.lists(
    st.sampled_from(
        rb"""1 -1 +1 2:0.5 3:1e-400 7:-0 : qid:3 0:1 4:nan 5:1e999 9:123456789012345678901234567890 # , 1_0
        2147483647:1 2147483648:1 8:.5 9:5. 6:1.e3 6:0x1p3 qid -3:1""".split()
        + [b" "] * 8
        + [b"\n", b"\n", b"\r\n", b"\x00", b"\x0b", b"\xc2\xa0"]
    ),
    max_size=24,
).map(b"".join)
LINES = st.lists(  # well-formed, so that many are parsed
    st.tuples(
        st.sampled_from(["1", "-1", "+1.0", "2e0"]),
        st.dictionaries(st.integers(1, 50), st.floats(-1e9, 1e9).map(repr), max_size=5),
        st.sampled_from(["\n", " \n", "\r\n", "# 3:4\n", "\n\n"]),
    ).map(lambda row: " ".join([row[0], *(f"{j}:{row[1][j]}" for j in sorted(row[1]))]) + row[2]),
    max_size=6,
).map(lambda lines: "".join(lines).encode())


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=80), LIKELY, PIECES, LINES), st.sampled_from([8, 33, 1000]))
def test_any_bytes_are_parsed_as_sklearn_does_or_refused_with_a_line_number(tmp_path_factory, text, block):
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(text)
    try:
        ours = list(read_blocks(path, block))
    except DataError as error:
        if re.search(
            r" is (an?|JSON|not)\b|damaged or cut short", str(error)
        ):  # the first bytes are those of another format
            return
        line = int(str(error).partition(", line ")[2].partition(":")[0])
        assert 1 <= line <= text.count(b"\n") + 1
        with pytest.raises(DataError, match=f"line {line}:"):  # wherever blocks are cut
            list(read_blocks(path, 4096))
        return
    if sum(block.X.shape[0] for block in ours):
        assert_same_as_sklearn(parse(path, block), io.BytesIO(text))


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1, 1).map(repr),
    st.floats(-1e3, 1e3, width=32).map(repr),
    st.tuples(st.integers(0, 10**22), st.integers(-40, 40)).map("{0[0]}e{0[1]}".format),
    st.tuples(st.integers(0, 10**6), st.text("0123456789", min_size=1, max_size=30)).map(
        "{0[0]}.{0[1]}".format
    ),
    st.integers(2**52, 2**54).map(lambda half: f"{half}.5"),  # halfway between two doubles, and beside
    st.integers(2**52, 2**53).map(lambda half: f"{half}.50000000000000000001"),
)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=30))
def test_every_decimal_number_becomes_the_double_that_float_gives(tmp_path_factory, texts):
    texts = [text for text in texts if np.isfinite(float(text))]
    path = tmp_path_factory.mktemp("numbers") / "file"
    path.write_text("".join(f"{text} {i + 1}:{text}\n" for i, text in enumerate(texts)) + "1 1:1\n")
    _, _, values, labels = parse(path)
    exact = np.array([float(text) for text in texts] + [1.0])
    np.testing.assert_array_equal(values.view(np.int64), exact.view(np.int64))
    np.testing.assert_array_equal(labels, exact)


FEATURES = (
    "0:1 -0:1 -3:1 0x2:1 2147483648:1 2:nan 2:-inf 2:1e400 2 a:2 2: 2:1.2.3 2:1e 2:1_000 "
    "qid 2:+-1 2:1:1 1e1:1 1:2"
)
BAD = [(f"-1 1:1 {token} 2147483647:1", token) for token in FEATURES.split()] + [
    (f"{label} 1:1", label) for label in ("1,3", "1:2", "nan", "1e999", "spam", "\x00", "0x1", "1_0")
]


@pytest.mark.parametrize("block_bytes", [16, 1 << 16])
@pytest.mark.parametrize(("line", "token"), BAD)
def test_a_malformed_line_is_refused_with_file_number_and_token(tmp_path, line, token, block_bytes):
    path = tmp_path / "bad.txt"
    for below in ("", "1 x\n"):
        path.write_text(f"1 1:1\n\n# comment\n{line}\n{below}")
        with pytest.raises(DataError) as caught:
            list(read_blocks(path, block_bytes))
        assert str(caught.value).startswith(f"{path}, line 4: got {token!r}, ")


@pytest.mark.parametrize("pack", [bz2, lzma, gzip], ids=lambda pack: pack.__name__)
def test_damaged_archives_are_refused(tmp_path, pack):
    rng = np.random.default_rng(0)
    text = "".join(f"1 1:{value!r}\n" for value in rng.standard_normal(2000).tolist()).encode()
    path = tmp_path / f"own{ {bz2: '.bz2', lzma: '.xz', gzip: '.gz'}[pack] }"
    for damaged in (pack.compress(text)[:-20], pack.compress(text)[: len(text) // 8]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"damaged or cut short"):
            list(read_blocks(path))
    path.unlink()
    with pytest.raises(DataError, match=r"cannot be read: No such file"):
        list(read_blocks(path))


def test_parsing_a_file_needs_memory_for_one_block_only(tmp_path, monkeypatch):
    monkeypatch.setattr(libsvm, "read_blocks", partial(read_blocks, block_bytes=1 << 16))
    path = tmp_path / "long.txt"
    line = " ".join(f"{j}:0.5" for j in range(1, 60)) + "\n"
    path.write_text(f"1 {line}-1 {line}" * 14_999)
    load(Libsvm(str(path)))  # compiles the code for many blocks before memory is watched
    path.write_text(f"1 {line}-1 {line}" * 15_000)
    tracemalloc.start()
    assert load(Libsvm(str(path))).X.shape == (30_000, 59)  # 14 MB
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


def test_more_features_than_indices_are_refused():
    with pytest.raises(ParameterError, match=r"libsvm: features .*2147483647.* 1000000"):
        Libsvm("own", features=10**12)


def test_a_byte_order_mark_is_passed_over(tmp_path):
    (tmp_path / "own").write_bytes(b"\xef\xbb\xbf1 1:1\n-1 2:1\n")
    assert load(Libsvm(str(tmp_path / "own"))).y.tolist() == [1, -1]


@pytest.fixture
def svmlight(tmp_path):
    """Writes random sparse rows as scikit-learn does; returns the path and the rows."""

    def written(name, zero_based, first=0, rows=30):
        X = np.random.default_rng(len(name)).integers(0, 3, (rows, 7)).astype(float)
        X[:, :first] = 0
        dump_svmlight_file(X, np.arange(rows) % 2, str(tmp_path / name), zero_based=zero_based)
        return str(tmp_path / name), X

    return written


def test_files_from_0_and_from_1_are_read_by_what_they_show_or_as_declared(svmlight):
    from_0, X = svmlight("train", zero_based=True)
    for declared, features in (("auto", None), ("auto", 7), (True, None), (True, 7)):
        data = Libsvm(from_0, features=features, zero_based=declared)
        np.testing.assert_array_equal(load(data).X, X)
    with pytest.raises(DataError, match="line 1: got '0:"):
        load(Libsvm(from_0, zero_based=False))
    from_1, X = svmlight("other", zero_based=False)
    for declared in ("auto", False):
        np.testing.assert_array_equal(load(Libsvm(from_1, zero_based=declared)).X, X)
    np.testing.assert_array_equal(load(Libsvm(from_1, zero_based=True)).X[:, 1:], X)
    with pytest.raises(ParameterError, match="'no'"):
        Libsvm(from_1, zero_based="no")


@pytest.mark.parametrize("features", [None, 7])
@pytest.mark.parametrize("parts", [("train", "test"), ("test", "train")])
@pytest.mark.parametrize("starts", [(0, 2), (2, 0)])
def test_an_index_0_in_one_file_is_so_for_both(svmlight, features, parts, starts):
    train, X = svmlight("train", zero_based=True, first=starts[0])
    test, X_test = svmlight("test", zero_based=True, first=starts[1], rows=20)
    data = Libsvm(train, test_path=test, features=features)
    for part in parts:
        np.testing.assert_array_equal(load(data, part).X, {"train": X, "test": X_test}[part])
    np.testing.assert_array_equal(load(data, "all").X, np.vstack([X, X_test]))
