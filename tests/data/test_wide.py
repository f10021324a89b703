"""Indices so large that vectors of that length do not fit into memory."""

import pytest

from aucbench import DataError, File, ParameterError
from aucbench.data import load, memory
from aucbench.data.scaler import fit_scaling
from aucbench_datasets.own import Libsvm
from tests.data.conftest import Declared


def test_an_index_beyond_memory_is_one_sentence_when_a_scaling_is_fitted(tmp_path, monkeypatch):
    (tmp_path / "own").write_text("1 1:1 2147483647:2\n-1 2:1\n")
    X = load(Declared((File(str(tmp_path / "own")),))).X
    monkeypatch.setattr(memory, "available", lambda: 8 << 30)
    message = (
        r"2,147,483,647 features need at least 85\.9 GB .* 8\.6 GB are available; look for a wrong index"
    )
    with pytest.raises(DataError, match=message):
        fit_scaling("maxabs", X)
    assert fit_scaling("none", X).apply(X).shape == (2, 2147483647)


def test_more_features_than_indices_are_refused():
    with pytest.raises(ParameterError, match=r"libsvm: features must be at most 2147483647, .*got 10000000"):
        Libsvm("own", features=10**12)


def test_a_byte_order_mark_is_passed_over(tmp_path):
    (tmp_path / "own").write_bytes(b"\xef\xbb\xbf1 1:1\n-1 2:1\n")
    assert load(Libsvm(str(tmp_path / "own"))).y.tolist() == [1, -1]
