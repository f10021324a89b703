"""Archives of NumPy; wild parts of sparse matrices are refused before compiled code sees them."""

import numpy as np
import pytest
from scipy import sparse

from aucbench import DataError
from aucbench.data import load
from aucbench_datasets.user_files import Npz

GOOD = {"data": [1.0, 2.0, 3.0], "indices": [0, 2, 1], "indptr": [0, 2, 3], "shape": [2, 3], "y": [0, 1]}


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_a_numpy_archive_are_read(tmp_path, compressed, order, monkeypatch):
    monkeypatch.setattr("aucbench.data.readers.npz.MOST_VALUES", 64)
    X = np.asarray(np.random.default_rng(0).standard_normal((30, 5)).astype(np.float32), order=order)
    y = np.arange(30) % 3
    save = np.savez_compressed if compressed else np.savez
    save(tmp_path / "own.npz", X=X, y=y)
    loaded = load(Npz(str(tmp_path / "own.npz"), positive=2))
    np.testing.assert_array_equal(loaded.X, X)
    np.testing.assert_array_equal(loaded.y == 1, y == 2)


def test_a_sparse_archive_with_labels_is_read(tmp_path):
    X = sparse.random(40, 3000, 0.01, "csr", rng=np.random.default_rng(1))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(tmp_path / "own.npz", **parts, labels=["u", "v"] * 20)
    loaded = load(Npz(str(tmp_path / "own.npz"), positive="u"))
    assert (loaded.X != X).nnz == 0
    assert loaded.y.tolist() == [1, -1] * 20


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.eye(2)}, r"has no array of labels \(y or target or .*\), only X"),
        ({"y": [0, 1]}, r"has no array of rows"),
        ({"X": np.eye(2), "y": [0, 1, 1]}, r"2 rows and 3 labels"),
        ({"X": np.full((2, 2), np.nan), "y": [0, 1]}, r"4 values of rows 1 and on are missing or infinite"),
        ({"X": np.eye(2), "y": [0, np.nan]}, r"1 labels are missing"),
        ({"X": np.zeros((2, 2), "U3"), "y": [0, 1]}, r"X must be \(n, d\) numbers"),
        ({"X": np.array([{}, 1], object), "y": [0, 1]}, r"X must be \(n, d\) numbers"),
    ],
)
def test_bad_archives_are_one_clear_sentence(tmp_path, arrays, message):
    np.savez(tmp_path / "own.npz", **arrays)
    with pytest.raises(DataError, match=message):
        load(Npz(str(tmp_path / "own.npz")))


def test_what_is_no_archive_is_refused(tmp_path):
    (tmp_path / "own.npz").write_text("hello")
    with pytest.raises(DataError, match=r"own\.npz is no \.npz archive"):
        load(Npz(str(tmp_path / "own.npz")))


def test_a_matrix_saved_by_columns_is_read_by_its_stated_format(tmp_path):
    X = sparse.random(30, 30, 0.2, "csc", rng=np.random.default_rng(0))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(tmp_path / "own.npz", format=b"csc", y=np.arange(30) % 2, **parts)
    np.testing.assert_array_equal(load(Npz(str(tmp_path / "own.npz"))).X, X.toarray())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indptr": [0, 2**40, 3]}, "do not fit"),
        ({"indptr": [-5, 2, 3]}, "do not fit"),
        ({"indptr": [0, 3, 2]}, "do not fit"),
        ({"indptr": [0, 1, 2]}, "ends at 2 of 3"),
        ({"indptr": [0, 3]}, "do not fit"),
        ({"indptr": [0.0, 2.0, 3.0]}, "indptr .* float64"),
        ({"indices": [0, 3, 1]}, "do not fit"),
        ({"indices": [0, -7, 1]}, "do not fit"),
        ({"indices": [0, 1]}, "do not fit"),
        ({"data": ["a", "b", "c"]}, "data .* <U1"),
        ({"shape": [2, 3, 1]}, "shape .* 2147483647"),
        ({"shape": [2, 10**12]}, "shape .* 2147483647"),
        ({"shape": 7}, "shape .*row of numbers"),
        ({"format": b"coo"}, "'coo'"),
    ],
)
def test_wild_parts_are_refused_in_one_sentence(tmp_path, changed, message):
    np.savez(tmp_path / "own.npz", **(GOOD | changed))
    with pytest.raises(DataError, match=rf"own\.npz: .*{message}"):
        load(Npz(str(tmp_path / "own.npz")))
    np.savez(tmp_path / "own.npz", **GOOD)
    assert load(Npz(str(tmp_path / "own.npz"))).X.tolist() == [[1, 0, 2], [0, 3, 0]]
