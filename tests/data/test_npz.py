"""Sparse archives of NumPy: wild parts are refused before compiled code sees them."""

import numpy as np
import pytest
from scipy import sparse

from aucbench import DataError
from aucbench.data import load
from aucbench_datasets.user_files import Npz

GOOD = {"data": [1.0, 2.0, 3.0], "indices": [0, 2, 1], "indptr": [0, 2, 3], "shape": [2, 3], "y": [0, 1]}


def test_a_matrix_saved_by_columns_is_read_by_its_stated_format(tmp_path):
    X = sparse.random(30, 30, 0.2, "csc", rng=np.random.default_rng(0))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(tmp_path / "own.npz", format=b"csc", y=np.arange(30) % 2, **parts)
    np.testing.assert_array_equal(load(Npz(str(tmp_path / "own.npz"))).X, X.toarray())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indptr": [0, 2**40, 3]}, r"indptr must ascend from 0 to 3"),
        ({"indptr": [-5, 2, 3]}, r"indptr must ascend from 0 to 3"),
        ({"indptr": [0, 3, 2]}, r"indptr must ascend"),
        ({"indptr": [0, 3]}, r"indptr has 2 numbers, expected 3 by the shape \[2, 3\]"),
        ({"indptr": [0.0, 2.0, 3.0]}, r"indptr .* must be a row of numbers, got .* float64"),
        ({"indices": [0, 3, 1]}, r"index 3 is out of range, expected 0 to 2"),
        ({"indices": [0, -7, 1]}, r"index -7 is out of range"),
        ({"indices": [0, 1]}, r"2 indices and 3 values"),
        ({"data": ["a", "b", "c"]}, r"data of a sparse matrix must be a row of numbers"),
        ({"shape": [2, 3, 1]}, r"shape must be two numbers"),
        ({"shape": [2, 10**12]}, r"shape must be two numbers from 1 to 2147483647"),
        ({"shape": 7}, r"shape of a sparse matrix must be a row of numbers"),
        ({"format": b"coo"}, r"a sparse matrix of format 'coo', expected csr or csc"),
    ],
)
def test_wild_parts_are_refused_in_one_sentence(tmp_path, changed, message):
    np.savez(tmp_path / "own.npz", **(GOOD | changed))
    with pytest.raises(DataError, match=rf"own\.npz: {message}"):
        load(Npz(str(tmp_path / "own.npz")))
    np.savez(tmp_path / "own.npz", **GOOD)
    assert load(Npz(str(tmp_path / "own.npz"))).X.tolist() == [[1, 0, 2], [0, 3, 0]]
