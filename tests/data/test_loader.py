"""Loading through the cache: parsed once, checked, never half-written."""

import resource
import time

import numpy as np
import pytest
from scipy import sparse

from aucbench import DataError, File, ParameterError, Samples
from aucbench.data import has_test_part, load
from aucbench.data.files import locate
from aucbench.data.readers import libsvm
from tests.data.conftest import TINY, Declared, InMemory

DENSE = [[0.5, 0, 2], [0, -1.25, 0], [0.001, 0, 0], [7, 8, 9], [0, 0, 4]]


def own(tmp_path, text, name="own.txt", **facts):
    path = tmp_path / name
    path.write_text(text)
    return File(str(path), **facts)


def test_rows_and_labels_are_as_in_the_file(mirror):
    loaded = load(Declared())
    np.testing.assert_array_equal(loaded.X, DENSE)
    assert loaded.y.tolist() == [-1, 1, -1, 1, -1]
    assert (loaded.X.dtype, loaded.y.dtype, type(loaded.X)) == (np.float64, np.int8, np.ndarray)
    assert loaded.X.flags.c_contiguous
    assert loaded.source == str(mirror / "binary" / "tiny")


def test_a_second_start_neither_parses_nor_needs_the_file(mirror, monkeypatch):
    first = load(Declared())
    (mirror / "binary" / "tiny").unlink()
    monkeypatch.setattr(libsvm, "read_blocks", None)
    second = load(Declared())
    np.testing.assert_array_equal(first.X, second.X)
    assert first.sha256 == second.sha256


def test_writing_to_loaded_rows_changes_neither_the_cache_nor_other_loads(mirror):
    load(Declared()).X[0, 0] = 99.0
    assert load(Declared()).X[0, 0] == 0.5


def test_few_features_are_dense_and_many_sparse_unless_they_are_full(tmp_path):
    wide = "".join(f"{i % 2} {i + 1}:1 1500:{i}\n" for i in range(20))
    X = load(Declared((own(tmp_path, wide),))).X
    assert isinstance(X, sparse.csr_matrix)
    assert X.shape == (20, 1500)
    assert (X.indices.dtype, X.indptr.dtype, X.data.dtype) == (np.int32, np.int32, np.float64)
    assert X.has_canonical_format
    np.testing.assert_array_equal(X[:, 1499].toarray().ravel(), np.arange(20.0))
    full = "".join(f"{i % 2} " + " ".join(f"{j}:1" for j in range(1, 1501)) + "\n" for i in range(4))
    assert isinstance(load(Declared((own(tmp_path, full, "full.txt"),))).X, np.ndarray)


def test_an_own_file_that_changes_is_parsed_anew(tmp_path):
    data = Declared((own(tmp_path, TINY),))
    before = load(data)
    own(tmp_path, TINY.replace("7", "7.5"))
    after = load(data)
    assert (before.X[3, 0], after.X[3, 0]) == (7, 7.5)
    assert before.sha256 != after.sha256


def test_what_a_killed_process_left_behind_is_removed(mirror, cache):
    rest = cache / "data" / "tiny" / ".building-dead"
    rest.mkdir(parents=True)
    (rest / "X.npy").write_text("half")
    load(Declared())
    assert not rest.exists()


def test_a_full_disk_is_one_clear_sentence_and_leaves_a_usable_cache(mirror, cache, tmp_path):
    load(Declared((own(tmp_path, TINY),)))  # whatever is compiled is compiled now
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


def test_train_and_test_part_have_the_columns_of_the_wider_one(tmp_path):
    train, test = own(tmp_path, TINY), own(tmp_path, "1 5:1\n-1 1:2\n", "own.t", part="test")
    data = Declared((train, test))
    assert [load(data, part).X.shape for part in ("train", "test", "all")] == [(5, 5), (2, 5), (7, 5)]
    np.testing.assert_array_equal(load(data, "all").X, np.vstack([load(data).X, load(data, "test").X]))
    assert load(data, "all").y.tolist() == [-1, 1, -1, 1, -1, 1, -1]
    assert [load(Declared((train, test), features=9), part).X.shape[1] for part in ("train", "all")] == [9, 9]
    assert len({load(data, part).sha256 for part in ("train", "test", "all")}) == 3


def test_the_training_part_can_be_loaded_where_the_test_part_is_missing(mirror):
    data = Declared((File("binary/tiny"), File("binary/tiny.t", part="test")), features=3)
    assert load(data).X.shape == (5, 3)
    assert has_test_part(data)


def test_all_parts_agree_on_the_positive_class_though_its_share_differs(tmp_path):
    train = own(tmp_path, "2 1:1\n5 1:2\n5 1:3\n")
    test = own(tmp_path, "2 1:1\n2 1:2\n5 1:3\n", "own.t", part="test")
    data = Declared((train, test))
    assert load(data).y.tolist() == [1, -1, -1]
    assert load(data, "test").y.tolist() == [1, 1, -1]
    assert load(data, "all").y.tolist() == [1, -1, -1, 1, 1, -1]


def test_a_label_that_only_the_test_part_has_is_refused(tmp_path):
    test = own(tmp_path, "3 1:1\n1 1:1\n", "own.t", part="test")
    with pytest.raises(DataError, match=r"label 3 of the test part"):
        load(Declared((own(tmp_path, TINY), test)), "test")


def test_a_test_part_of_one_class_is_refused(tmp_path):
    test = own(tmp_path, "1 1:1\n1 1:1\n", "own.t", part="test")
    with pytest.raises(DataError, match=r"the test part has only positive rows"):
        load(Declared((own(tmp_path, TINY), test)), "test")


def test_one_file_may_say_0_where_the_other_says_minus_1(tmp_path):
    test = own(tmp_path, "0 1:1\n1 1:1\n", "own.t", part="test")
    assert load(Declared((own(tmp_path, TINY), test)), "test").y.tolist() == [-1, 1]


def test_a_data_set_without_test_part_says_so_and_all_is_its_training_part(mirror):
    assert not has_test_part(Declared())
    with pytest.raises(DataError, match=r"tiny has no test part"):
        load(Declared(), "test")
    assert load(Declared(), "all").sha256 == load(Declared()).sha256
    with pytest.raises(ParameterError, match=r"dataset\.part .*'both'"):
        load(Declared(), "both")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"rows": 6}, r"binary/tiny: expected 6 rows, got 5\."),
        (
            {"labels": {-1: 2, 1: 3}},
            r"expected 2 times label -1 and 3 times label 1, got 3 times label -1 and 2",
        ),
        ({"labels": {-1: 2, 0: 1, 1: 2}}, r"expected 2 times label -1, 1 times label 0 and 2 times"),
    ],
)
def test_published_facts_are_checked_before_anything_is_cached(mirror, cache, facts, message):
    with pytest.raises(DataError, match=message):
        load(Declared((File("binary/tiny", **facts),)))
    assert not list(cache.rglob("meta.json"))


def test_published_names_of_two_labels_replace_those_of_a_copy(mirror):
    # Published as 1 (three rows) and 2 (two rows); the copy says -1 and 1.
    data = Declared((File("binary/tiny", labels={1: 3, 2: 2}),), positive=1)
    assert load(data).y.tolist() == [1, -1, 1, -1, 1]


def test_more_features_than_published_are_refused(mirror):
    with pytest.raises(DataError, match=r"tiny .*index 3.* 2 features"):
        load(Declared(features=2))


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_an_empty_file_is_refused(tmp_path, text):
    with pytest.raises(DataError, match=r"own\.txt is empty"):
        load(Declared((own(tmp_path, text),)))


def test_a_file_without_any_feature_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"no row of .*own\.txt has a feature"):
        load(Declared((own(tmp_path, "1\n-1\n"),)))


def test_a_target_of_a_regression_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"more than 65536 distinct labels"):
        load(Declared((own(tmp_path, "".join(f"{i} 1:1\n" for i in range(65_537))),)))


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"tiny: the file .*nowhere does not exist"):
        load(Declared((File(str(tmp_path / "nowhere")),)))
    with pytest.raises(DataError, match=r"is a folder, expected a file"):
        load(Declared((File(str(tmp_path)),)))


def test_a_data_set_that_declares_nothing_is_refused():
    with pytest.raises(DataError, match=r"neither a training file nor a method load"):
        load(Declared(()))


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


@pytest.mark.mirror
def test_opening_covtype_from_the_cache_costs_a_fraction_of_one_look_at_its_values(monkeypatch):
    data = Declared((File("binary/covtype.libsvm.binary.bz2"),), features=54)
    first = load(data)
    monkeypatch.setattr(libsvm, "read_blocks", None)
    monkeypatch.setattr(locate, "find", None)
    shares = []
    for _ in range(5):
        began = time.thread_time()
        again = load(data)
        opened = time.thread_time()
        again.X.max()
        shares.append((opened - began) / (time.thread_time() - opened))
    assert again.X.shape == (581012, 54)
    assert again.sha256 == first.sha256
    assert sorted(shares)[2] < 0.5  # opening takes 2 ms, one pass over the values 10 and more
