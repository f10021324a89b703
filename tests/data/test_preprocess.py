"""Rescaling: after any scaling and feature map training rows have the mean |x|^2 1, dense ones the mean 0."""

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench.data.preprocess import Rescaling, prepare
from aucbench.data.scaler import Scaling, fit_scaling, gather
from aucbench.data.splits.protocols import Side, Split
from tests.helpers.fake_plugins import two_clouds

X, Y = two_clouds(n=300)
X = X * [1e-3, 1.0, 50.0, 1.0, 7.0] + [0.0, 9.0, 0.0, -4.0, 0.0]
X[X < -4.0] = 0.0  # sparse rows have zeros, too
KINDS = {"dense": np.array, "csr": sparse.csr_matrix}


def split_of(kind, rows="of one array"):
    """A split whose sides are two arrays, or rows of them."""
    chosen = [(None, None), (slice(0, 300, 2), slice(1, 300, 2))][rows == "of one array"]
    numbers = [None if part is None else np.arange(300)[part] for part in chosen]
    return Split(*(Side(KINDS[kind](X), Y if index is None else Y[index], index) for index in numbers))


def features(name):
    return aucbench.catalog().features(name)()


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


def by_hand(train):
    """Centre and factor, in float64."""
    rows = dense(train).astype(np.float64)
    centre = rows.mean(axis=0) if not sparse.issparse(train) else np.zeros(rows.shape[1])
    squares = np.sum((rows - centre) ** 2, axis=1)
    return centre, 1.0 / np.sqrt(max(squares.mean(), squares.max() / 100.0))


MAPS = ["nystroem", "fourier", "subset", "projection"]
CASES = [(scaling, "identity") for scaling in Scaling] + [(Scaling.maxabs, name) for name in MAPS]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dtype", "rows"), [("float64", "of one array"), ("float32", "whole arrays")])
@pytest.mark.parametrize(("scaling", "name"), CASES)
def test_the_mean_squared_norm_is_one_after_any_scaling_and_map_and_the_data_set_stays_as_it_is(
    scaling, name, dtype, kind, rows
):
    split = split_of(kind, rows)
    plain = prepare(split, scaling, features(name), dtype, 3)
    rescaled = prepare(split, scaling, features(name), dtype, 3, rescale=True)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    squares = np.sum(dense(rescaled.X).astype(np.float64) ** 2, axis=1)
    assert np.mean(squares) == pytest.approx(1.0, rel=tolerance)
    centre, factor = by_hand(plain.X)
    assert rescaled.rescaling.factor == pytest.approx(factor, rel=tolerance)
    for ours, theirs in ((rescaled.X, plain.X), (rescaled.X_test, plain.X_test)):
        assert type(ours) is type(theirs)
        assert ours.dtype == dtype
        largest = np.abs(dense(theirs)).max() * factor
        expected = (dense(theirs) - centre) * factor
        np.testing.assert_allclose(dense(ours), expected, rtol=0, atol=2 * tolerance * largest)
    for side in split[:2]:
        assert np.array_equal(dense(side.X), X)
    assert plain.rescaling is None
    if name == "identity":
        scaler = fit_scaling(scaling, split.train.X, split.train.rows)
        for ours, side in ((plain.X, split.train), (plain.X_test, split.test)):
            assert dense(ours).tobytes() == dense(gather(side.X, side.rows, scaler, dtype)).tobytes()


@pytest.mark.parametrize(
    "rows", [np.zeros((4, 3)), sparse.csr_matrix((4, 3)), np.array([[1e200, 0.0], [0.0, 1e200]])]
)
def test_rows_without_a_finite_positive_mean_have_the_factor_one(rows):
    with np.errstate(over="ignore"):
        assert Rescaling.fit(rows).factor == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_far_longer_than_the_others_does_not_shrink_them_to_nothing_nor_stay_a_hundred_times_too_long(
    kind,
):
    rows = np.ones((100_000, 1)) * np.where(np.arange(100_000) % 2, 1.0, -1.0)[:, None]
    rows[0] = 1e4
    rescaled = dense(Rescaling.fit(KINDS[kind](rows)).apply(KINDS[kind](rows)))
    assert np.max(rescaled**2) == pytest.approx(100.0, rel=1e-6)
    assert np.mean(rescaled**2) < 1.0
