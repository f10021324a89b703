"""Loading through the cache: parsed once, checked, never half-written."""

import resource

import numpy as np
import pytest
from scipy import sparse

from aucbench import DataError, File, ParameterError, Samples
from aucbench.data import has_test_part, load
from aucbench.data.readers import libsvm
from tests.data.conftest import TINY, Declared, InMemory

DENSE = [[0.5, 0, 2], [0, -1.25, 0], [0.001, 0, 0], [7, 8, 9], [0, 0, 4]]


@pytest.fixture
def declare(tmp_path):
    """Declares a data set of files with these training rows and test rows."""

    def declared(train, test=None, facts=None, **fields):
        files = []
        for part, text in (("train", train), ("test", test)):
            if text is not None:
                (tmp_path / part).write_text(text)
                files.append(File(str(tmp_path / part), part=part, **(facts or {})))
        return Declared(tuple(files), **fields)

    return declared


def test_rows_and_labels_are_as_in_the_file_and_belong_to_the_caller(mirror):
    loaded = load(Declared())
    np.testing.assert_array_equal(loaded.X, DENSE)
    assert loaded.y.tolist() == [-1, 1, -1, 1, -1]
    assert (loaded.X.dtype, loaded.y.dtype, type(loaded.X)) == (np.float64, np.int8, np.ndarray)
    assert loaded.X.flags.c_contiguous
    assert loaded.source == str(mirror / "binary" / "tiny")
    loaded.X[0, 0] = 99.0
    assert load(Declared()).X[0, 0] == 0.5


def test_a_second_start_neither_parses_nor_needs_the_file(mirror, monkeypatch):
    first = load(Declared())
    (mirror / "binary" / "tiny").unlink()
    monkeypatch.setattr(libsvm, "read_blocks", None)
    second = load(Declared())
    np.testing.assert_array_equal(first.X, second.X)
    assert first.sha256 == second.sha256


def test_few_features_are_dense_and_many_sparse_unless_they_are_full(declare):
    X = load(declare("".join(f"{i % 2} {i + 1}:1 1500:{i}\n" for i in range(20)))).X
    assert isinstance(X, sparse.csr_matrix)
    assert X.shape == (20, 1500)
    assert (X.indices.dtype, X.indptr.dtype, X.data.dtype) == (np.int32, np.int32, np.float64)
    assert X.has_canonical_format
    np.testing.assert_array_equal(X[:, 1499].toarray().ravel(), np.arange(20.0))
    full = "".join(f"{i % 2} " + " ".join(f"{j}:1" for j in range(1, 1501)) + "\n" for i in range(4))
    assert isinstance(load(declare(full)).X, np.ndarray)


def test_an_own_file_that_changes_is_parsed_anew(declare):
    before, after = load(declare(TINY)), load(declare(TINY.replace("7", "7.5")))
    assert (before.X[3, 0], after.X[3, 0]) == (7, 7.5)
    assert before.sha256 != after.sha256


def test_a_full_disk_is_one_sentence_and_what_a_killed_process_left_behind_is_removed(mirror, cache, declare):
    leftover = cache / "data" / "tiny" / ".building-dead"
    leftover.mkdir(parents=True)
    (leftover / "X.npy").write_text("half")
    load(declare(TINY))
    assert not leftover.exists()
    (mirror / "binary" / "tiny").write_text(TINY * 5000)
    _, hard = before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))  # a write beyond fails, as on a full disk
    try:
        with pytest.raises(DataError, match=r"tiny: .*AUCBENCH_CACHE"):
            load(Declared())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list((cache / "data" / "tiny").glob(".building-*"))
    assert load(Declared()).X.shape == (25_000, 3)


def test_train_and_test_part_have_the_columns_of_the_wider_one(declare):
    data = declare(TINY, "1 5:1\n-1 1:2\n")
    assert [load(data, part).X.shape for part in ("train", "test", "all")] == [(5, 5), (2, 5), (7, 5)]
    np.testing.assert_array_equal(load(data, "all").X, np.vstack([load(data).X, load(data, "test").X]))
    assert load(data, "all").y.tolist() == [-1, 1, -1, 1, -1, 1, -1]
    assert len({load(data, part).sha256 for part in ("train", "test", "all")}) == 3
    wider = declare(TINY, "1 5:1\n-1 1:2\n", features=9)
    assert [load(wider, part).X.shape[1] for part in ("train", "all")] == [9, 9]


def test_the_training_part_can_be_loaded_where_the_test_part_is_missing(mirror):
    data = Declared((File("binary/tiny"), File("binary/tiny.t", part="test")), features=3)
    assert load(data).X.shape == (5, 3)
    assert has_test_part(data)


def test_all_parts_agree_on_the_positive_class_though_its_share_or_name_differs(declare):
    data = declare("2 1:1\n5 1:2\n5 1:3\n", "2 1:1\n2 1:2\n5 1:3\n")
    expected = {"train": [1, -1, -1], "test": [1, 1, -1], "all": [1, -1, -1, 1, 1, -1]}
    assert {part: load(data, part).y.tolist() for part in expected} == expected
    assert load(declare(TINY, "0 1:1\n1 1:1\n"), "test").y.tolist() == [-1, 1]  # the other has -1 for 0


def test_a_data_set_without_test_part_says_so_and_all_is_its_training_part(mirror):
    assert not has_test_part(Declared())
    with pytest.raises(DataError, match=r"tiny has no test part"):
        load(Declared(), "test")
    assert load(Declared(), "all").sha256 == load(Declared()).sha256
    with pytest.raises(ParameterError, match=r"dataset\.part .*'both'"):
        load(Declared(), "both")


REFUSED = [
    (TINY, "3 1:1\n1 1:1\n", {}, r"label 3 of the test part"),
    (TINY, "1 1:1\n1 1:1\n", {}, r"the test part has only positive rows"),
    (TINY, None, {"facts": {"rows": 6}}, r"train: expected 6 rows, got 5\."),
    (TINY, None, {"facts": {"labels": {-1: 2, 1: 3}}}, r"2 times .* -1 and 3 .* 1, got 3 times .* -1 and 2"),
    (TINY, None, {"facts": {"labels": {-1: 2, 0: 1, 1: 2}}}, r"2 times .* -1, 1 times label 0 and 2 times"),
    (TINY, None, {"features": 2}, r"tiny: .*index 3.* 2 features"),
    *((text, None, {}, r"train is empty") for text in ("", "\n\n", "# only a comment\n")),
    ("1\n-1\n", None, {}, r"no row of .*train has a feature"),
    ("".join(f"{i} 1:1\n" for i in range(65_537)), None, {}, r"more than 65536 distinct labels"),
]  # fmt: skip


@pytest.mark.parametrize(("train", "test", "fields", "message"), REFUSED, ids=[case[3] for case in REFUSED])
def test_files_that_are_not_as_published_or_make_no_classes_are_refused(
    declare, cache, train, test, fields, message
):
    with pytest.raises(DataError, match=message):
        load(declare(train, test, **fields), "train" if test is None else "test")
    assert bool(list(cache.rglob("meta.json"))) == (test is not None)


def test_files_and_declarations_that_are_none_are_refused(tmp_path):
    for files, message in (
        ((File(str(tmp_path / "nowhere")),), r"tiny: the file .*nowhere does not exist"),
        ((File(str(tmp_path)),), r"is no file"),
        ((), r"neither a training file nor a method load"),
        ((File("rows"), File("more", part="tests")), r"part is train or test, got 'tests'"),
    ):
        with pytest.raises(DataError, match=message):
            load(Declared(files))


def test_published_names_of_two_labels_replace_those_of_a_copy(mirror):
    # Published as 1 (three rows) and 2 (two rows); the copy has -1 and 1.
    data = Declared((File("binary/tiny", labels={1: 3, 2: 2}),), positive=1)
    assert load(data).y.tolist() == [1, -1, 1, -1, 1]


def test_a_data_set_that_loads_itself_becomes_float64_rows_and_signs():
    loaded = load(InMemory(Samples(np.asfortranarray([[1, 2], [3, 4]]), [7, 9])))
    assert loaded.X.dtype == np.float64
    assert loaded.X.flags.c_contiguous
    assert loaded.y.tolist() == [-1, 1]
    csr = sparse.csr_matrix(([1.0, 2.0, 3.0], [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    X = load(InMemory(Samples(csr, [0, 1]))).X
    assert X.indices.tolist() == [0, 1, 0]
    assert csr.indices.tolist() == [1, 0, 0]
    assert loaded.sha256 != load(InMemory(Samples([[1, 2], [3, 4]], [9, 7]))).sha256


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1, np.nan], [np.inf, 2]], [0, 1], r"2 features are NaN or infinite"),
        ([[1], [2]], [0, np.nan], r"1 labels are NaN"),
        ([[1], [2]], [0], r"got \(2, 1\) and \(1,\)"),
        ([["a"], ["b"]], [0, 1], r"must return Samples of numbers"),
        (np.empty((0, 3)), [], r"got \(0, 3\)"),
    ],
)
def test_arrays_that_cannot_be_used_are_refused(X, y, message):
    with pytest.raises(DataError, match=message):
        load(InMemory(Samples(X, y)))
