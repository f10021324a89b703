"""Scaling against scikit-learn's scalers and NumPy formulas."""

import numpy as np
import psutil
import pytest
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler, normalize

from aucbench import DataError, File, ParameterError
from aucbench.data import load, memory
from aucbench.data.scaler import Scaling, fit_scaling, gather
from tests.data.conftest import Declared


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(3, 10, (60, 7)) * (rng.random((60, 7)) < 0.5)
    X[:, 2] = 0.0
    X[5] = 0.0
    return X, rng.permutation(60)[:40]


def by_sklearn(name, X, train):
    if name == "none":
        return X
    if name == "minmax":
        constant = np.ptp(X[train], axis=0) == 0
        scaled = MinMaxScaler((-1, 1)).fit(X[train]).transform(X)
        return np.where(constant, 0.0, scaled)
    if name == "maxabs":
        return MaxAbsScaler().fit(X[train]).transform(X)
    if name == "standard":
        return StandardScaler().fit(X[train]).transform(X)
    if name == "unit":
        return normalize(X)
    if name == "centred_unit":
        return normalize(X - X.mean(axis=1, keepdims=True))
    return normalize(MaxAbsScaler().fit(X[train]).transform(X))


@pytest.mark.parametrize("name", Scaling)
def test_dense_rows_are_scaled_as_scikit_learn_does_fitted_on_training_rows(data, name):
    X, train = data
    before = X.copy()
    scaled = fit_scaling(name, X, train).apply(X)
    np.testing.assert_allclose(scaled, by_sklearn(name, X, train), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(X, before)
    assert not np.shares_memory(scaled, X)
    np.testing.assert_array_equal(scaled, fit_scaling(name, X[train]).apply(X))


@pytest.mark.parametrize("name", Scaling)
def test_sparse_rows_are_scaled_like_dense_ones(data, name):
    X, train = data
    csr = sparse.csr_matrix(X)
    stored = csr.data.copy()
    scaled = fit_scaling(name, csr, train).apply(csr)
    assert sparse.issparse(scaled) == (name not in ("minmax", "centred_unit"))
    dense = scaled.toarray() if sparse.issparse(scaled) else scaled
    expected = fit_scaling(name, X, train).apply(X)
    if name == "standard":  # the one scaling that differs: sparse rows are not centred
        expected = StandardScaler(with_mean=False).fit(csr[train]).transform(csr).toarray()
    np.testing.assert_allclose(dense, expected, rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(csr.data, stored)
    if sparse.issparse(scaled):
        scaled.data[:] = 0
        scaled.indices[:] = 0
        np.testing.assert_array_equal(csr.toarray(), X)


def test_maxabs_has_the_bits_of_scikit_learn(data):
    X, train = data
    np.testing.assert_array_equal(fit_scaling("maxabs", X, train).apply(X), by_sklearn("maxabs", X, train))


def test_minmax_reaches_both_ends_exactly(data):
    X, train = data
    scaled = gather(X, train, fit_scaling("minmax", X, train))
    varying = np.ptp(X[train], axis=0) > 0
    assert (scaled.min(axis=0)[varying] == -1).all()
    assert (scaled.max(axis=0)[varying] == 1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", Scaling)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_gathered_rows_are_those_rows_scaled_in_the_wanted_type(data, name, dtype, kind):
    X, train = data
    rows = np.array([3, 3, 59, 0])
    scaler = fit_scaling(name, kind(X), train)
    got = gather(kind(X), rows, scaler, dtype)
    assert got.dtype == dtype
    if not sparse.issparse(got):
        assert got.flags.c_contiguous
    got = got.toarray() if sparse.issparse(got) else got
    scaled = fit_scaling(name, kind(X), train).apply(X)[rows]
    np.testing.assert_array_equal(got, scaled.astype(dtype))


@pytest.mark.parametrize("name", Scaling)
def test_float32_rows_stay_float32(data, name):
    X = data[0].astype(np.float32)
    for matrix in (X, sparse.csr_matrix(X)):
        assert fit_scaling(name, matrix).apply(matrix).dtype == np.float32


def test_rows_of_extreme_size_have_unit_norm_and_constant_rows_become_zero_when_centred():
    X = np.array([[3e200, 4e200], [3e-200, 4e-200], [0.1, 0.1], [0.0, 0.0]])
    unit = fit_scaling("unit", X).apply(X)
    np.testing.assert_allclose(unit[:2], [[0.6, 0.8], [0.6, 0.8]], rtol=1e-15)
    assert unit[3].tolist() == [0, 0]
    assert fit_scaling("centred_unit", X).apply(np.full((2, 3), 0.1)).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_a_sparse_column_stored_in_every_row_has_its_own_minimum():
    X = np.array([[1.0, 2.0], [3.0, 0.0]])
    scaled = fit_scaling("minmax", sparse.csr_matrix(X)).apply(sparse.csr_matrix(X))
    assert scaled.tolist() == [[-1, 1], [1, -1]]


def test_standardised_columns_have_mean_0_and_deviation_1_whatever_their_size_and_place():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(1000, 4))
    scales, places = np.array([1e-200, 1e200, 1e-3, 1.0]), np.array([1e-200, -1e200, 1e6, 0.0])
    X = places + scales * Z
    scaled = fit_scaling("standard", X).apply(X)
    exact = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    error = np.abs(scaled - exact).max(axis=0)
    assert (error < [1e-12, 1e-12, 1e-6, 1e-12]).all()  # 1e6 + 1e-3 z holds z to seven digits only


def test_the_deviation_of_a_sparse_column_counts_its_zeros():
    rng = np.random.default_rng(2)
    X = rng.normal(5, 1e-3, (4000, 6)) * (rng.random((4000, 6)) < [0.0, 1e-3, 0.1, 0.5, 0.999, 1.0])
    X[:, 5] = 7.0
    scaled = fit_scaling("standard", sparse.csr_matrix(X)).apply(sparse.csr_matrix(X))
    deviation = X.std(axis=0)
    deviation[[0, 5]] = 1.0  # constant columns are left as they are
    np.testing.assert_allclose(scaled.toarray(), X / deviation, rtol=1e-10)


def test_a_constant_column_of_dense_rows_is_standardised_to_zero_for_new_rows_too():
    X = np.array([[0.1, 1.0], [0.1 + 2e-17, 3.0], [np.nextafter(0.1, 1), 5.0]])
    scaler = fit_scaling("standard", X)
    assert scaler.apply(np.array([[9.0, 3.0]])).tolist() == [[0.0, 0.0]]
    assert scaler.apply(X)[:, 0].tolist() == [0.0, 0.0, 0.0]


def test_rows_are_centred_as_the_training_rows_were_whatever_their_format(data):
    X, train = data
    dense, csr = fit_scaling("standard", X, train), fit_scaling("standard", sparse.csr_matrix(X), train)
    np.testing.assert_array_equal(dense.apply(sparse.csr_matrix(X)), dense.apply(X))
    np.testing.assert_array_equal(csr.apply(sparse.csr_matrix(X)).toarray(), csr.apply(X))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_standard_scaling_of_rows_beyond_the_memory_has_the_same_values(data, kind, monkeypatch):
    X, train = data
    expected = fit_scaling("standard", kind(X), train).apply(kind(X))
    monkeypatch.setattr("aucbench.data.scaler.fits", lambda _: False)
    monkeypatch.setattr("aucbench.data.memory.BLOCK_BYTES", 500)
    scaled = fit_scaling("standard", kind(X), train).apply(kind(X))
    same = (scaled != expected).nnz == 0 if sparse.issparse(scaled) else np.array_equal(scaled, expected)
    assert same


@pytest.mark.parametrize("name", ["minmax", "standard"])
def test_a_range_that_overflows_is_refused(name):
    with pytest.raises(DataError, match=r"column 1 .*maxabs"):
        fit_scaling(name, np.array([[1.0, -1.5e308], [2.0, 1.5e308]]))


def test_making_sparse_rows_dense_beyond_the_memory_is_refused():
    columns = psutil.virtual_memory().total // 8
    X = sparse.csr_matrix(([1.0, 1.0], [0, 1], [0, 1, 2]), shape=(2, columns))
    with pytest.raises(DataError, match=r"scaling=centred_unit .*scaling=maxabs"):
        fit_scaling("centred_unit", X).apply(X)


def test_unknown_names_no_rows_and_other_columns_are_refused():
    X = np.eye(3)
    with pytest.raises(ParameterError, match=r"one of none, minmax, maxabs, .*got 'zscore'"):
        fit_scaling("zscore", X)
    with pytest.raises(DataError, match=r"no training rows"):
        fit_scaling("maxabs", X, np.empty(0, np.int64))
    with pytest.raises(DataError, match=r"fitted on 3 columns, got 2"):
        fit_scaling("maxabs", X).apply(np.eye(2))


def test_names_equal_values():
    assert [member.name for member in Scaling] == [member.value for member in Scaling]


def test_an_index_beyond_memory_is_refused_before_anything_is_cached(tmp_path, monkeypatch, cache):
    own = tmp_path / "own"
    own.write_text("1 1:1 2147483647:2\n-1 2:1\n")
    monkeypatch.setattr(memory, "available", lambda: 8 << 30)
    with pytest.raises(DataError, match=r"own: 2,147,483,647 features .*85\.9 GB .* 8\.6 GB"):
        load(Declared((File(str(own)),)))
    assert list((cache / "data").glob("*/*/*")) == []
    X = sparse.csr_matrix(([1.0, 2.0], [0, 2147483646], [0, 2, 2]), shape=(2, 2147483647))
    with pytest.raises(DataError, match=r"2,147,483,647 features"):
        fit_scaling("maxabs", X)
    assert fit_scaling("none", X).apply(X).shape == (2, 2147483647)


@pytest.mark.parametrize("scaling", ["minmax", "centred_unit"])
def test_wide_sparse_rows_are_not_made_dense_however_much_memory_there_is(scaling, monkeypatch):
    monkeypatch.setattr("aucbench.data.scaler.available", lambda: 1 << 50)
    wide = sparse.csr_matrix((np.ones(2000), np.arange(2000), np.arange(2001)), shape=(2000, 40_000))
    with pytest.raises(DataError, match=rf"scaling={scaling} .* 0\.6 GB, .*0\.00% .*scaling=maxabs"):
        fit_scaling(scaling, wide).apply(wide)
    few = wide[:10]
    assert fit_scaling(scaling, few).apply(few).shape == (10, 40_000)


def test_sparse_rows_of_some_density_are_made_dense(monkeypatch):
    monkeypatch.setattr("aucbench.data.scaler.FEW_BYTES", 1000)
    X = sparse.random(40, 100, density=0.1, format="csr", random_state=0)
    assert fit_scaling("minmax", X).apply(X).shape == (40, 100)
