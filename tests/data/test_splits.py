"""Protocols and inner splits divide rows without loss or overlap, and by the seed alone."""

import itertools
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from aucbench import DataError, ParameterError
from aucbench.contracts.random_streams import RandomStream
from aucbench.data.loader import Loaded, Part
from aucbench.data.splits._parts import drawing, permuted
from aucbench.data.splits.inner import inner_count, inner_split, limited
from aucbench.data.splits.protocols import (
    PROTOCOLS,
    Given,
    Holdout,
    KFold,
    SplitProtocol,
    TrainValidTest,
    recorded,
)


def labels(positives, negatives, seed=0):
    y = np.repeat(np.array([1, -1], np.int8), [positives, negatives])
    return np.random.default_rng(seed).permutation(y)


def loading(**parts):
    """A loader of parts with these labels; every row holds its number."""
    loaded = {
        Part(name): Loaded(np.arange(len(y), dtype=float)[:, None], y, f"digest of {name}", "here", (1,))
        for name, y in parts.items()
    }
    return loaded.__getitem__


LOADER = loading(train=labels(23, 80), test=labels(9, 32, seed=1))


def rows_of(side):
    return np.arange(side.X.shape[0]) if side.rows is None else side.rows


def identities(side):
    """Pairs of the id of a matrix and a row number."""
    return {(id(side.X), row) for row in rows_of(side).tolist()}


def counts(side):
    return np.count_nonzero(side.y == 1), np.count_nonzero(side.y == -1)


def drawn(protocol, seed=0, fold=0, load=LOADER):
    return protocol.split(load, Part.train, seed, fold)


def every_split(protocol, seed=0, load=LOADER):
    """All splits of a seed; a draw without regard to the classes may leave a part without one of them."""
    try:
        return [drawn(protocol, seed, fold, load) for fold in range(protocol.splits)]
    except DataError:
        assume(getattr(protocol, "stratified", True))
        raise


def every_inner(split, folds, seed=0):
    return [inner_split(split, folds, seed, number) for number in range(inner_count(split, folds))]


def sides(split):
    return [side for side in split if side is not None]


def same(left, right):
    return all(np.array_equal(rows_of(a), rows_of(b)) for a, b in zip(sides(left), sides(right), strict=True))


def check_labels_and_order(side, load):
    y = next(load(part).y for part in (Part.train, Part.test) if side.X is load(part).X)
    np.testing.assert_array_equal(side.y, y[rows_of(side)])
    assert (np.diff(rows_of(side)) > 0).all()
    assert side.rows is None or side.rows.dtype == np.int64


FRACTIONS = st.floats(0.02, 0.7)
PAIRS = st.tuples(FRACTIONS, FRACTIONS).filter(lambda pair: sum(pair) < 0.95)
RANDOM_PARTS = st.builds(Holdout, FRACTIONS, st.booleans()) | st.tuples(PAIRS, st.booleans()).map(
    lambda drawn: TrainValidTest(*drawn[0], drawn[1])
)
FOLDS = st.builds(KFold, st.integers(2, 7), st.integers(1, 4), st.booleans())
PROTOCOL = st.one_of(RANDOM_PARTS, FOLDS, st.builds(Given, st.booleans()))
COUNTS = st.tuples(st.integers(7, 400), st.integers(7, 400))
SEEDS = st.integers(0, 99)


@settings(max_examples=100, deadline=None)
@given(PROTOCOL, COUNTS, COUNTS, SEEDS, st.none() | st.integers(20, 50))
def test_sides_cover_their_part_without_overlap_and_tuning_never_sees_a_test_row(
    protocol, train, test, seed, limit
):
    load = loading(train=labels(*train), test=labels(*test, seed=1))
    splits = every_split(protocol, seed, load)
    assert len(splits) == protocol.splits
    assert all(map(same, splits, every_split(protocol, seed, load)))
    for split in splits:
        for side in sides(split):
            check_labels_and_order(side, load)
        for part in (Part.train, Part.test):
            rows = [rows_of(side) for side in sides(split) if side.X is load(part).X]
            assert not rows or sorted(np.concatenate(rows)) == list(range(len(load(part).y)))
    try:
        split = limited(splits[-1], limit, seed)
        inner = every_inner(split, 3, seed)
    except DataError:  # few rows of one class are left
        assume(False)
    for fold in inner:
        assert fold.validation is None
        assert not (identities(fold.train) | identities(fold.test)) & identities(split.test)
        assert not identities(fold.train) & identities(fold.test)
        check_labels_and_order(fold.train, load)
        check_labels_and_order(fold.test, load)
    if split.validation is not None:
        assert [inner[0].train, inner[0].test] == [split.train, split.validation]
        return
    tested = [rows_of(fold.test) for fold in inner]
    assert sorted(np.concatenate(tested)) == rows_of(split.train).tolist()
    assert (np.ptp([counts(fold.test) for fold in inner], axis=0) <= 1).all()
    assert all(identities(fold.train) | identities(fold.test) == identities(split.train) for fold in inner)


@settings(max_examples=150, deadline=None)
@given(RANDOM_PARTS, st.tuples(st.integers(3, 400), st.integers(3, 400)), SEEDS)
@example(Holdout(0.03), (3, 400), 0)
@example(TrainValidTest(0.2, 0.6), (3, 20), 0)
def test_random_parts_have_their_fractions_and_stratified_ones_the_classes_in_proportion(
    protocol, classes, seed
):
    (split,) = every_split(protocol, seed, loading(train=labels(*classes)))
    n = sum(classes)
    sizes = np.array([counts(side) for side in sides(split)])
    assert sizes.sum(axis=0).tolist() == list(classes)
    assert sizes.min() >= 1
    for name in ("validation", "test"):
        if side := getattr(split, name):
            more = len(side.y) - max(1, round(getattr(protocol, f"{name}_fraction") * n))
            # A row of the rarer class is added where the fraction has none.
            assert more == 0 or (protocol.stratified and sizes.min() == 1)
    if protocol.stratified:
        shares = sizes.sum(axis=1, keepdims=True) * [count / n for count in classes]
        # A part that has one row of a class only because it must have one may be off by more elsewhere.
        assert (abs(sizes - shares) <= 1 + 1e-9).all() or sizes.min() == 1


@settings(max_examples=100, deadline=None)
@given(FOLDS, COUNTS, SEEDS)
def test_within_a_repeat_every_row_tests_once_and_folds_are_equal_within_one_row(protocol, classes, seed):
    splits = every_split(protocol, seed, loading(train=labels(*classes)))
    for first in range(0, len(splits), protocol.folds):
        repeat = splits[first : first + protocol.folds]
        assert sorted(np.concatenate([rows_of(split.test) for split in repeat])) == list(range(sum(classes)))
        sizes = np.array([counts(split.test) for split in repeat])
        assert np.ptp(sizes.sum(axis=1)) <= 1
        assert not protocol.stratified or (np.ptp(sizes, axis=0) <= 1).all()


@settings(max_examples=50, deadline=None)
@given(st.tuples(st.integers(2, 50), st.integers(2, 50)), SEEDS)
def test_given_trains_and_tests_on_whole_parts_or_halves_each_class_of_the_test_part(classes, seed):
    load = loading(train=labels(5, 5), test=labels(*classes))
    full, halved = (drawn(Given(is_halved), seed, load=load) for is_halved in (False, True))
    assert full.train.rows is full.test.rows is full.validation is halved.train.rows is None
    ours, theirs = (np.array(counts(side)) for side in (halved.validation, halved.test))
    assert (ours + theirs).tolist() == list(classes)
    assert (abs(ours - theirs) <= 1).all()
    assert abs(ours.sum() - theirs.sum()) <= 1


EXAMPLES = [
    *(cls(stratified=flag) for cls in (Holdout, TrainValidTest) for flag in (True, False)),
    *(Given(), Given(halved=True), KFold(), KFold(folds=3, repeats=2), KFold(folds=4, stratified=False)),
]


@pytest.mark.parametrize("protocol", EXAMPLES, ids=str)
def test_splits_depend_on_seed_and_fold_and_records_and_digests_say_what_was_used(protocol):
    assert isinstance(protocol, SplitProtocol)
    assert type(protocol) in PROTOCOLS
    assert recorded(protocol.name, asdict(protocol)) == protocol
    for fold in range(protocol.splits):
        assert same(drawn(protocol, 5, fold), drawn(protocol, 6, fold)) == (protocol == Given())
        if isinstance(protocol, KFold):  # more repeats leave the first as they are
            assert same(drawn(replace(protocol, repeats=4), 5, fold), drawn(protocol, 5, fold))
    parts = ("train", "test") if protocol.name == "given" else ("train",)
    assert protocol.digests(LOADER, Part.train) == tuple(f"digest of {part}" for part in parts)
    for fold in (-1, protocol.splits):
        with pytest.raises(ParameterError, match=f"{protocol.name}: fold .*, got {fold}"):
            drawn(protocol, 0, fold)
    if protocol != Given():
        with pytest.raises(ParameterError, match="-1"):
            drawn(protocol, -1)


def test_a_recorded_protocol_that_does_not_say_is_not_stratified_and_the_default_is_four_to_one_to_one():
    split = drawn(TrainValidTest(), load=loading(train=labels(100, 500)))
    assert [len(side.y) for side in split] == [400, 100, 100]
    assert recorded("holdout", {"test_fraction": 0.3}) == Holdout(0.3, stratified=False)


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("seed", [0, 7])
def test_parts_are_cut_from_the_front_of_the_permutation_of_the_seed_or_of_each_class_in_it(seed, stratified):
    y = labels(200, 800)

    def front(stream, begin, end):
        order = np.random.default_rng([seed, stream]).permutation(1000)
        classes = [order[y[order] == sign] for sign in (1, -1)] if stratified else [order]
        return sorted(
            row for rows in classes for row in rows[len(rows) * begin // 20 : len(rows) * end // 20]
        )

    load = loading(train=y)
    assert rows_of(drawn(Holdout(0.1, stratified), seed, load=load).test).tolist() == front(1, 0, 2)
    split = drawn(TrainValidTest(0.25, 0.5, stratified), seed, load=load)
    assert rows_of(split.test).tolist() == front(11, 0, 10)
    assert rows_of(split.validation).tolist() == front(11, 10, 15)


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("part", [Part.all, Part.test])
def test_given_splits_no_other_part(halved, part):
    for call in (Given(halved).digests, lambda *args: Given(halved).split(*args, seed=0)):
        with pytest.raises(ParameterError, match=f"dataset.part, got {part}"):
            call(LOADER, part)


@pytest.mark.parametrize(
    ("protocol", "classes", "expected"),
    [
        (Holdout(), (1, 99), r"has 0 positive and \d+ negative rows.* protocol=kfold"),
        (TrainValidTest(), (1, 99), r"has 0 positive and \d+ negative rows"),
        (TrainValidTest(0.3, 0.001, stratified=False), (28, 29), r"1 positive and 0|0 positive and 1"),
        (TrainValidTest(0.001, 0.3, stratified=False), (28, 29), r"1 positive and 0|0 positive and 1"),
        (KFold(5), (4, 50), r"5 folds for 4 positive and 50 negative"),
        (KFold(5), (50, 4), r"5 folds for 50 positive and 4 negative"),
        (Given(halved=True), (1, 30), r"halved=.*1 positive and 30"),
    ],
    ids=str,
)
def test_classes_with_too_few_rows_for_all_parts_are_refused_with_their_counts(protocol, classes, expected):
    with pytest.raises(DataError, match=expected):
        drawn(protocol, 1, load=loading(train=labels(*classes), test=labels(*classes)))


@pytest.mark.parametrize("part", ["training", "validation", "test"])
def test_a_part_of_one_class_is_refused(part):
    protocol = TrainValidTest(stratified=False)
    rows = rows_of(getattr(drawn(protocol), part.removesuffix("ing")))
    y = labels(50, 53)
    y[rows] = -1
    with pytest.raises(DataError, match=f"{part} part .* 0 positive and {len(rows)} negative"):
        drawn(protocol, load=loading(train=y))
    for fold in range(3):  # the only positive row trains or tests
        with pytest.raises(DataError, match=r"(training|test) part .* 0 positive"):
            drawn(KFold(3, stratified=False), 0, fold, loading(train=labels(1, 20)))


def test_no_two_streams_repeats_and_seeds_share_a_permutation():
    ways = list(itertools.product(range(4), RandomStream, range(10)))
    assert len({tuple(permuted(20, drawing(way[0], way[1], way[2])).tolist()) for way in ways}) == len(ways)


@pytest.mark.parametrize(("positives", "expected"), [(9, 5), (5, 5), (4, 4), (2, 2)])
def test_there_are_no_more_inner_folds_than_rows_of_the_rarer_class(positives, expected):
    for classes in ((positives, 40), (40, positives)):
        split = drawn(Given(), load=loading(train=labels(*classes), test=labels(5, 5)))
        assert inner_count(split, 5) == expected
        assert all(min(counts(side)) > 0 for inner in every_inner(split, 5) for side in inner[:2])


def test_inner_splits_that_are_not_there_are_refused():
    split = drawn(Given())
    for folds, seed, number, got in (
        (1, 0, 0, "1"),
        (5, 0, -1, "number -1"),
        (5, 0, 5, "number 5"),
        (5, -1, 0, "-1"),
    ):
        with pytest.raises(ParameterError, match=f"got {got}"):
            inner_split(split, folds, seed, number)
    assert inner_count(drawn(TrainValidTest()), 0) == 1
    with pytest.raises(ParameterError, match="got number 1"):
        inner_split(drawn(TrainValidTest()), 5, 0, 1)
    too_small = drawn(Given(), load=loading(train=labels(1, 40), test=labels(5, 5)))
    with pytest.raises(DataError, match="1 positive and 40 negative"):
        inner_count(too_small, 5)


@pytest.mark.parametrize("protocol", EXAMPLES, ids=str)
def test_smaller_limits_are_nested_in_larger_ones(protocol):
    split = drawn(protocol)
    before = identities(split.train)
    assert limited(split, None, 0) is split
    for limit in (1000, len(split.train.y), 60, 40, 25, 15):
        fewer = limited(split, limit, 3)
        rows = identities(fewer.train)
        assert len(rows) == len(fewer.train.y) == min(limit, len(split.train.y))
        assert rows <= before
        check_labels_and_order(fewer.train, LOADER)
        assert fewer[1:] == split[1:]
        if limit < len(split.train.y):
            order = np.random.default_rng([3, 15]).permutation(len(split.train.y))
            assert rows_of(fewer.train).tolist() == sorted(rows_of(split.train)[order[:limit]])
        before = rows


def test_limits_that_are_out_of_range_or_leave_one_class_are_refused():
    split = drawn(Given(), load=loading(train=labels(1, 60), test=labels(5, 5)))
    for limit in (1, 0, -3):
        with pytest.raises(ParameterError, match=rf"max_train_rows .*, got {limit}"):
            limited(split, limit, 0)
    positive = int(np.flatnonzero(split.train.y == 1)[0])
    without = next(
        s for s in range(50) if positive not in permuted(61, drawing(s, RandomStream.row_limit))[:20]
    )
    with pytest.raises(DataError, match=r"max_train_rows=20 .*0 positive and 20 negative of 61"):
        limited(split, 20, without)
