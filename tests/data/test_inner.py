import numpy as np
import pytest

from aucbench import DataError, ParameterError
from aucbench.contracts.random_streams import RandomStream
from aucbench.data.preprocess import prepare
from aucbench.data.scaler import Scaling
from aucbench.data.splits._random import permutation
from aucbench.data.splits.inner import inner_count, inner_split, limited
from aucbench.data.splits.protocols import Given, KFold, TrainValidTest
from aucbench_features import Identity
from tests.data.split_examples import (
    PROTOCOLS,
    as_sparse,
    check_labels_and_order,
    counts,
    drawn,
    example,
    labels,
    loading,
    rows_of,
    sides,
)


def identities(side):
    """Which rows of which matrix."""
    return {(id(side.X), row) for row in rows_of(side).tolist()}


def every_inner(split, folds, seed=0):
    return [inner_split(split, folds, seed, number) for number in range(inner_count(split, folds))]


@pytest.mark.parametrize("limit", [None, 50])
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_tuning_never_sees_a_test_row_and_trains_on_training_rows_only(protocol, limit):
    load = example()
    for fold in range(protocol.splits):
        split = limited(drawn(protocol, 1, fold, load), limit, 1)
        for inner in every_inner(split, 3):
            assert inner.validation is None
            assert not (identities(inner.train) | identities(inner.test)) & identities(split.test)
            assert not identities(inner.train) & identities(inner.test)
            assert identities(inner.train) <= identities(split.train)
            judged = split.train if split.validation is None else split.validation
            assert identities(inner.test) <= identities(judged)
            for side in sides(inner):
                check_labels_and_order(side, load)


@pytest.mark.parametrize("protocol", [each for each in PROTOCOLS if drawn(each).validation is None], ids=str)
def test_inner_folds_partition_the_training_rows_with_the_classes_in_proportion(protocol):
    split = drawn(protocol)
    inner = every_inner(split, 5)
    assert len(inner) == 5
    tested = np.concatenate([rows_of(each.test) for each in inner])
    assert sorted(tested) == rows_of(split.train).tolist()
    assert (np.ptp([counts(each.test) for each in inner], axis=0) <= 1).all()
    for each in inner:
        assert identities(each.train) | identities(each.test) == identities(split.train)


@pytest.mark.parametrize("protocol", [TrainValidTest(), Given(halved=True)], ids=str)
def test_with_validation_rows_there_is_one_inner_split(protocol):
    split = drawn(protocol)
    assert inner_count(split, 5) == inner_count(split, 0) == 1
    inner = inner_split(split, 5, 0, 0)
    assert inner.train is split.train
    assert inner.test is split.validation


def test_inner_folds_depend_on_the_seed_and_on_nothing_else():
    split = drawn(Given())
    one, again, other = (inner_split(split, 5, seed, 2).test.rows.tolist() for seed in (3, 3, 4))
    assert one == again != other


def test_inner_folds_are_not_the_folds_of_the_protocol():
    load = loading(train=labels(300, 300), test=labels(5, 5))
    inner = [set(rows_of(each.test).tolist()) for each in every_inner(drawn(Given(), load=load), 5)]
    for fold in range(50):
        outer = set(rows_of(drawn(KFold(5, 10), 0, fold, load).test).tolist())
        assert max(len(outer & each) for each in inner) < 60  # of 120; 24 is the mean


def test_no_two_streams_repeats_and_seeds_share_a_permutation():
    orders = [
        permutation(20, seed, stream, number)
        for seed in range(4)
        for stream in RandomStream
        for number in range(10)
    ]
    assert len({tuple(order.tolist()) for order in orders}) == len(orders) == 4 * len(RandomStream) * 10


@pytest.mark.parametrize(("positives", "expected"), [(9, 5), (5, 5), (4, 4), (2, 2)])
def test_there_are_no_more_inner_folds_than_rows_of_the_rarer_class(positives, expected):
    for classes in ((positives, 40), (40, positives)):
        split = drawn(Given(), load=loading(train=labels(*classes), test=labels(5, 5)))
        assert inner_count(split, 5) == expected
        assert all(min(counts(side)) > 0 for each in every_inner(split, 5) for side in each[:2])


def test_one_row_of_a_class_cannot_be_tuned_on():
    split = drawn(Given(), load=loading(train=labels(1, 40), test=labels(5, 5)))
    for ask in (inner_count, lambda *what: inner_split(*what, seed=0)):
        with pytest.raises(DataError, match=r"1 positive and 40 negative"):
            ask(split, 5)


def test_wrong_numbers_of_inner_folds_are_refused():
    split = drawn(Given())
    with pytest.raises(ParameterError, match=r"tuning.folds must be >= 2, got 1"):
        inner_count(split, 1)
    for number in (-1, 5):
        with pytest.raises(ParameterError, match=f"5 inner splits.* got number {number}"):
            inner_split(split, 5, 0, number)
    with pytest.raises(ParameterError, match="got number 1"):
        inner_split(drawn(TrainValidTest()), 5, 0, 1)
    with pytest.raises(ParameterError, match=r"seed of a split must be >= 0"):
        inner_split(split, 5, -1, 0)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_smaller_limits_are_nested_in_larger_ones(protocol):
    split = drawn(protocol)
    before = identities(split.train)
    for limit in (1000, len(split.train.y), 60, 40, 25, 15):
        fewer = limited(split, limit, 3)
        rows = identities(fewer.train)
        assert len(rows) == len(fewer.train.y) == min(limit, len(split.train.y))
        assert rows <= before
        assert (np.diff(rows_of(fewer.train)) > 0).all()
        assert fewer.test is split.test
        assert fewer.validation is split.validation
        before = rows


def test_no_limit_and_a_large_one_change_nothing():
    split = drawn(TrainValidTest())
    assert limited(split, None, 0) is split
    assert limited(split, len(split.train.y), 0) is split


def test_a_limit_draws_uniformly_by_the_seed():
    split = drawn(Given(), load=loading(train=np.array([1, -1] * 5, np.int8), test=labels(5, 5)))
    times = np.zeros(10)
    for seed in range(4000):
        times[rows_of(limited(split, 8, seed).train)] += 1
    np.testing.assert_allclose(times / 4000, 0.8, atol=0.04)
    assert limited(split, 8, 1).train.rows.tolist() == limited(split, 8, 1).train.rows.tolist()


def test_limits_that_are_out_of_range_or_leave_one_class_are_refused():
    split = drawn(Given(), load=loading(train=labels(1, 60), test=labels(5, 5)))
    for limit in (1, 0, -3):
        with pytest.raises(ParameterError, match=rf"max_train_rows must be >= 2 \(or none\), got {limit}"):
            limited(split, limit, 0)
    positive = int(np.flatnonzero(split.train.y == 1)[0])
    without = next(s for s in range(50) if positive not in permutation(61, s, RandomStream.row_limit)[:20])
    expected = r"max_train_rows=20 .*0 positive and 20 negative of 61"
    with pytest.raises(DataError, match=expected):
        limited(split, 20, without)


@pytest.mark.parametrize("kind", [lambda side: side, as_sparse], ids=["dense", "sparse"])
def test_limited_inner_splits_of_a_fold_are_prepared_from_their_own_rows(kind):
    split = limited(drawn(KFold(3), 0, 2), 40, 0)
    split = split._replace(train=kind(split.train), test=kind(split.test))
    inner = inner_split(split, 4, 0, 3)
    prepared = prepare(inner, Scaling.maxabs, Identity(), "float64", 0)
    largest = rows_of(inner.train).max()
    for X, side in ((prepared.X, inner.train), (prepared.X_test, inner.test)):
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        np.testing.assert_allclose(dense[:, 0], rows_of(side) / largest, rtol=1e-15)
    np.testing.assert_array_equal(prepared.y, inner.train.y)
    np.testing.assert_array_equal(prepared.y_test, inner.test.y)
