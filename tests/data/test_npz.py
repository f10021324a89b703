"""Archives of NumPy; wild parts of sparse matrices are refused before compiled code sees them."""

import numpy as np
import pytest
from scipy import sparse

from aucbench import DataError
from aucbench.data import load
from aucbench_datasets.user_files import Npz

GOOD = {"data": [1.0, 2.0, 3.0], "indices": [0, 2, 1], "indptr": [0, 2, 3], "shape": [2, 3], "y": [0, 1]}


def parts(X):
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_and_sparse_matrices_are_read(tmp_path, save, order, monkeypatch):
    monkeypatch.setattr("aucbench.data.readers.npz.MOST_VALUES", 64)
    rng, path = np.random.default_rng(0), tmp_path / "own.npz"
    X, y = np.asarray(rng.standard_normal((30, 5)).astype(np.float32), order=order), np.arange(30) % 3
    save(path, X=X, y=y)
    loaded = load(Npz(str(path), positive=2))
    np.testing.assert_array_equal(loaded.X, X)
    np.testing.assert_array_equal(loaded.y == 1, y == 2)
    wide = sparse.random(40, 3000, 0.01, "csr", rng=rng)
    save(path, **parts(wide), labels=["u", "v"] * 20)
    loaded = load(Npz(str(path), positive="u"))
    assert (wide != loaded.X).nnz == 0
    assert loaded.y.tolist() == [1, -1] * 20


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.eye(2)}, r"labels \(y or target or .*\), only X"),
        ({"y": [0, 1]}, r"has no array of rows"),
        ({"X": np.eye(2), "y": [0, 1, 1]}, r"\(2,\) numbers or texts"),
        ({"X": np.full((2, 2), np.nan), "y": [0, 1]}, r"4 values of the rows are missing or infinite"),
        ({"X": np.eye(2), "y": [0, np.nan]}, r"1 labels are missing"),
        ({"X": np.zeros((2, 2), "U3"), "y": [0, 1]}, r"X must be \(n, d\) numbers"),
        ({"X": np.array([{}, 1], object), "y": [0, 1]}, r"no \.npz archive of numbers"),
        *((GOOD | {"indptr": wild}, "do not fit") for wild in ([0, 2**40, 3], [-5, 2, 3], [0, 3, 2], [0, 3])),
        *((GOOD | {"indices": wild}, "do not fit") for wild in ([0, 3, 1], [0, -7, 1], [0, 1])),
        *((GOOD | wild, "do not fit") for wild in ({"indptr": [0, 1, 2]}, {"data": ["a", "b", "c"]})),
        *((GOOD | {name: [0.0, 1.5, 2.0]}, "whole ones") for name in ("indices", "indptr")),
        (GOOD | {"data": [1j, 2, 3]}, "must be numbers"),
        *((GOOD | {"shape": shape}, "do not fit") for shape in ([2, 3, 1], [2, 10**12], 7)),
        (GOOD | {"format": b"csc"}, "'csc'"),
    ],
)
def test_bad_archives_are_one_clear_sentence(tmp_path, arrays, message):
    np.savez(tmp_path / "own.npz", **arrays)
    with pytest.raises(DataError, match=rf"own\.npz.*{message}"):
        load(Npz(str(tmp_path / "own.npz")))
    (tmp_path / "own.npz").write_text("hello")
    with pytest.raises(DataError, match=r"own\.npz is no \.npz archive"):
        load(Npz(str(tmp_path / "own.npz")))
