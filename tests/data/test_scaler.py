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

KINDS = {"dense": np.array, "csr": sparse.csr_matrix}
rng = np.random.default_rng(0)
X = rng.normal(3, 10, (60, 7)) * (rng.random((60, 7)) < 0.5)
X[:, 2] = 0.0
X[5] = 0.0
TRAIN = rng.permutation(60)[:40]


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


def fitted(name, rows):
    return gather(rows, None, fit_scaling(name, rows))


def by_sklearn(name, kind):
    train = X[TRAIN]
    if name == "minmax":
        return np.where(np.ptp(train, axis=0) == 0, 0.0, MinMaxScaler((-1, 1)).fit(train).transform(X))
    if name == "auto" and kind == "csr":
        return X / np.maximum(train.std(axis=0), 1.0)
    if name in ("auto", "standard"):  # sparse rows are not centred
        return StandardScaler(with_mean=kind == "dense").fit(train).transform(X)
    if name == "centred_unit":
        return normalize(X - X.mean(axis=1, keepdims=True))
    scaled = MaxAbsScaler().fit(train).transform(X) if name.startswith("maxabs") else X
    return normalize(scaled) if name.endswith("unit") else scaled


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", Scaling)
def test_rows_are_scaled_as_scikit_learn_does_fitted_on_training_rows(name, kind, dtype):
    rows = KINDS[kind](X)
    scaler = fit_scaling(name, rows, TRAIN)
    scaled = gather(rows, None, scaler)
    assert sparse.issparse(scaled) == (kind == "csr" and name not in ("minmax", "centred_unit"))
    np.testing.assert_allclose(dense(scaled), by_sklearn(name, kind), rtol=1e-13, atol=1e-13)
    if name == "maxabs":  # to the bits
        np.testing.assert_array_equal(dense(scaled), by_sklearn(name, kind))
    np.testing.assert_array_equal(dense(scaled), dense(gather(rows, None, fit_scaling(name, rows[TRAIN]))))
    some = np.array([3, 3, 59, 0])
    gathered = gather(rows, some, scaler, dtype)
    assert gathered.dtype == dtype == fitted(name, rows.astype(dtype)).dtype
    assert sparse.issparse(gathered) or gathered.flags.c_contiguous
    np.testing.assert_array_equal(dense(gathered), dense(scaled)[some].astype(dtype))
    for array in (scaled.data, scaled.indices) if sparse.issparse(scaled) else (scaled,):
        array[:] = 0  # the input rows do not change
    np.testing.assert_array_equal(dense(rows), X)


def test_minmax_reaches_both_ends_exactly():
    scaled = gather(X, TRAIN, fit_scaling("minmax", X, TRAIN))[:, np.ptp(X[TRAIN], axis=0) > 0]
    assert (scaled.min(axis=0) == -1).all()
    assert (scaled.max(axis=0) == 1).all()
    full = np.array([[1.0, 2.0], [3.0, 0.0]])  # a column stored in every row has its own minimum
    assert fitted("minmax", sparse.csr_matrix(full)).tolist() == [[-1, 1], [1, -1]]


def test_rows_of_extreme_size_have_unit_norm_and_constant_rows_become_zero_when_centred():
    extreme = np.array([[3e200, 4e200], [3e-200, 4e-200], [0.1, 0.1], [0.0, 0.0]])
    unit = fitted("unit", extreme)
    np.testing.assert_allclose(unit[:2], [[0.6, 0.8], [0.6, 0.8]], rtol=1e-15)
    assert unit[3].tolist() == [0, 0]
    assert fitted("centred_unit", np.full((2, 3), 0.1)).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_standardised_columns_have_mean_0_and_deviation_1_whatever_their_size_and_place():
    Z = np.random.default_rng(1).normal(size=(1000, 4))
    scales, shifts = np.array([1e-200, 1e200, 1e-3, 1.0]), np.array([1e-200, -1e200, 1e6, 0.0])
    error = np.abs(fitted("standard", shifts + scales * Z) - (Z - Z.mean(axis=0)) / Z.std(axis=0)).max(axis=0)
    assert (error < [1e-12, 1e-12, 1e-6, 1e-12]).all()  # 1e6 + 1e-3 z holds z to seven digits only


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_auto_divides_a_sparse_column_by_a_deviation_above_one_and_tiny_values_by_their_size(dtype, weighted):
    rng = np.random.default_rng(3)
    filled = rng.random((500, 6)) < [0.5, 0.3, 0.9, 0.05, 0.01, 1.0]
    rows = (rng.normal(0, 1, (500, 6)) * [1e-6, 0.1, 50, 1e4, 0, 0] + [0, 0, 0, 0, 1, 700]) * filled
    rows = rows.astype(dtype)
    train, weights = rng.permutation(500)[:300], rng.integers(1, 5, 500).astype(float) if weighted else None
    repeated = np.repeat(train, weights[train].astype(int) if weighted else 1)
    deviation = rows.astype(np.float64)[repeated].std(axis=0)
    assert list(deviation > 1) == [False, False, True, True, False, False]
    csr = sparse.csr_matrix(rows)
    scaled = gather(csr, None, fit_scaling("auto", csr, train, weights))
    divisor = np.maximum(deviation, 1.0)
    tiny = rows.astype(np.float64)[repeated, 0]
    divisor[0] = np.sqrt(np.mean(tiny[tiny != 0] ** 2))
    expected = (rows / divisor).astype(dtype)
    np.testing.assert_allclose(scaled.toarray(), expected, rtol=1e-6 if dtype == np.float32 else 1e-12)
    np.testing.assert_array_equal(scaled.toarray()[:, [1, 4, 5]], rows[:, [1, 4, 5]])
    wide = rows.astype(np.float64)
    standard = StandardScaler().fit(wide[train], sample_weight=weights[train] if weighted else None)
    centred = gather(wide, None, fit_scaling("auto", rows, train, weights))
    np.testing.assert_allclose(centred[:, :5], standard.transform(wide)[:, :5], rtol=1e-9, atol=1e-9)
    assert not centred[:, 5].any()


@pytest.mark.parametrize("weighted", [False, True])
def test_auto_standardises_dense_columns_of_sparse_rows_in_any_unit_and_leaves_indicators(weighted):
    rng = np.random.default_rng(4)
    order, weights = rng.permutation(3000), rng.integers(1, 5, 3000).astype(float)
    units, shifts = 10.0 ** np.arange(-8, 8), rng.normal(0, 100, 16)
    numbers = (shifts + rng.normal(size=(3000, 16))) * units
    numbers[order[:2]] = 0.0  # one of them is a training row
    indicators = 0.3 * (rng.random((3000, 4)) < [0.01, 0.4, 1.0, 1.0])
    indicators[order[2], 2] = 0.0
    rows = np.hstack([numbers, indicators * (1 + 1e-15 * rng.random((3000, 4)))])
    csr, train = sparse.csr_matrix(rows), order[1:2500]
    csr.data[csr.indices == 16] = 0.0  # stored
    scaler = fit_scaling("auto", csr, train, weights if weighted else None)
    scaled = gather(csr, None, scaler)
    assert sparse.issparse(scaled)
    model = StandardScaler().fit(numbers[train], sample_weight=weights[train] if weighted else None)
    np.testing.assert_allclose(scaled.toarray()[:, :16], model.transform(numbers), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(scaled.toarray()[:, 16:], csr.toarray()[:, 16:])


def test_a_constant_column_of_dense_rows_is_standardised_to_zero_for_new_rows_too():
    rows = np.array([[0.1, 1.0], [0.1 + 2e-17, 3.0], [np.nextafter(0.1, 1), 5.0]])
    scaler = fit_scaling("standard", rows)
    assert gather(np.array([[9.0, 3.0]]), None, scaler).tolist() == [[0.0, 0.0]]
    assert gather(rows, None, scaler)[:, 0].tolist() == [0.0, 0.0, 0.0]


def test_what_cannot_be_scaled_is_refused():
    for error, message, call in (
        (ParameterError, r"one of auto, none, minmax, .*got 'zscore'", lambda: fit_scaling("zscore", X)),
        (DataError, r"no training rows", lambda: fit_scaling("maxabs", X, np.empty(0, np.int64))),
        (DataError, r"fitted on 7 columns, got 2", lambda: gather(np.eye(2), None, fit_scaling("maxabs", X))),
    ):
        with pytest.raises(error, match=message):
            call()
    for name in ("auto", "minmax", "standard"):
        with pytest.raises(DataError, match=r"column 1 .*maxabs"):
            fit_scaling(name, np.array([[1.0, -1.5e308], [2.0, 1.5e308]]))
    assert [member.name for member in Scaling] == [member.value for member in Scaling]


def test_an_index_beyond_memory_is_refused_before_anything_is_cached(tmp_path, monkeypatch, cache):
    path = tmp_path / "own"
    path.write_text("1 1:1 2147483647:2\n-1 2:1\n")
    monkeypatch.setattr(memory, "available", lambda: 8 << 30)
    with pytest.raises(DataError, match=r"own: 2,147,483,647 features .*85\.9 GB .* 8\.59 GB"):
        load(Declared((File(str(path)),)))
    assert list((cache / "data").glob("*/*/*")) == []
    wide = sparse.csr_matrix(([1.0, 2.0], [0, 2147483646], [0, 2, 2]), shape=(2, 2147483647))
    with pytest.raises(DataError, match=r"2,147,483,647 features"):
        fit_scaling("maxabs", wide)
    assert fitted("none", wide).shape == (2, 2147483647)


@pytest.mark.parametrize("scaling", ["minmax", "centred_unit"])
def test_wide_sparse_rows_are_not_made_dense_however_much_memory_there_is(scaling, monkeypatch):
    columns = psutil.virtual_memory().total // 8
    beyond = sparse.csr_matrix(([1.0, 1.0], [0, 1], [0, 1, 2]), shape=(2, columns))
    with pytest.raises(DataError, match=r"scaling=centred_unit .*scaling=maxabs"):
        fitted("centred_unit", beyond)
    monkeypatch.setattr("aucbench.data.scaler.available", lambda: 1 << 50)
    wide = sparse.csr_matrix((np.ones(2000), np.arange(2000), np.arange(2001)), shape=(2000, 40_000))
    with pytest.raises(DataError, match=rf"scaling={scaling} .* 0\.00% .* 0\.6 of .*scaling=maxabs"):
        fitted(scaling, wide)
    assert fitted(scaling, wide[:10]).shape == (10, 40_000)
    monkeypatch.setattr("aucbench.data.scaler.FEW_BYTES", 1000)
    some = sparse.random(40, 100, density=0.1, format="csr", random_state=0)
    assert fitted(scaling, some).shape == (40, 100)
