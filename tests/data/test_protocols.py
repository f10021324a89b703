"""Every protocol divides rows without loss or overlap, classes in proportion, by the seed alone."""

import itertools
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from aucbench import DataError, ParameterError
from aucbench.data.loader import Part
from aucbench.data.splits.protocols import PROTOCOLS as CLASSES
from aucbench.data.splits.protocols import Given, Holdout, KFold, SplitProtocol, TrainValidTest, recorded
from tests.data.split_examples import (
    PROTOCOLS,
    check_labels_and_order,
    counts,
    drawn,
    labels,
    loading,
    rows_of,
    sides,
)
from tests.data.split_examples import example as both_parts

Y = np.where(np.arange(50) % 5 == 0, 1, -1).astype(np.int8)


def every_split(protocol, seed=0, load=None):
    return [drawn(protocol, seed, fold, load) for fold in range(protocol.splits)]


def same(one, other):
    return all(np.array_equal(rows_of(a), rows_of(b)) for a, b in zip(sides(one), sides(other), strict=True))


FRACTIONS = st.floats(0.02, 0.7)
PAIRS = st.tuples(FRACTIONS, FRACTIONS).filter(lambda pair: sum(pair) < 0.95)
PROTOCOL = st.one_of(
    st.builds(Holdout, FRACTIONS, st.booleans()),
    st.builds(Given, st.booleans()),
    st.tuples(PAIRS, st.booleans()).map(lambda drawn: TrainValidTest(*drawn[0], drawn[1])),
    st.builds(KFold, st.integers(2, 7), st.integers(1, 4), st.booleans()),
)
COUNTS = st.tuples(st.integers(7, 400), st.integers(7, 400))


def splits_of(protocol, load, seed):
    """All splits of a seed; a draw without regard to the classes may leave a part without one of them."""
    try:
        return every_split(protocol, seed, load)
    except DataError:
        assume(getattr(protocol, "stratified", True))
        raise


@settings(max_examples=150, deadline=None)
@given(PROTOCOL, COUNTS, COUNTS, st.integers(0, 99))
def test_sides_are_disjoint_and_cover_their_part_and_are_the_same_each_time(protocol, train, test, seed):
    load = loading(train=labels(*train), test=labels(*test, seed=1))
    splits = splits_of(protocol, load, seed)
    assert len(splits) == protocol.splits
    assert all(map(same, splits, every_split(protocol, seed, load)))
    for split in splits:
        for side in sides(split):
            check_labels_and_order(side, load)
        for part in (Part.train, Part.test):
            rows = [rows_of(side) for side in sides(split) if side.X is load(part).X]
            assert not rows or sorted(np.concatenate(rows)) == list(range(len(load(part).y)))


@settings(max_examples=150, deadline=None)
@given(
    PROTOCOL.filter(lambda each: isinstance(each, Holdout | TrainValidTest)),
    st.tuples(st.integers(3, 400), st.integers(3, 400)),
    st.integers(0, 99),
)
@example(Holdout(0.03), (3, 400), 0)
@example(TrainValidTest(0.2, 0.6), (3, 20), 0)
def test_random_parts_have_their_fractions_and_stratified_ones_the_classes_in_proportion(
    protocol, classes, seed
):
    (split,) = splits_of(protocol, loading(train=labels(*classes)), seed)
    n = sum(classes)
    found = np.array([counts(side) for side in sides(split)])
    assert found.sum(axis=0).tolist() == list(classes)
    assert found.min() >= 1
    for name in ("validation", "test"):
        if side := getattr(split, name):
            more = len(side.y) - max(1, round(getattr(protocol, f"{name}_fraction") * n))
            # A row of the rarer class is added where the fraction has none.
            assert more == 0 or (protocol.stratified and found.min() == 1)
    if protocol.stratified:
        shares = found.sum(axis=1, keepdims=True) * [count / n for count in classes]
        # A part that has one row of a class only because it must have one may be off by more elsewhere.
        assert (abs(found - shares) <= 1 + 1e-9).all() or found.min() == 1


@settings(max_examples=100, deadline=None)
@given(PROTOCOL.filter(lambda each: isinstance(each, KFold)), COUNTS, st.integers(0, 99))
def test_within_a_repeat_every_row_tests_once_and_folds_are_equal_within_one_row(protocol, classes, seed):
    splits = splits_of(protocol, loading(train=labels(*classes)), seed)
    assert len(splits) == protocol.folds * protocol.repeats
    for first in range(0, len(splits), protocol.folds):
        repeat = splits[first : first + protocol.folds]
        assert sorted(np.concatenate([rows_of(split.test) for split in repeat])) == list(range(sum(classes)))
        found = np.array([counts(split.test) for split in repeat])
        assert np.ptp(found.sum(axis=1)) <= 1
        assert not protocol.stratified or (np.ptp(found, axis=0) <= 1).all()


@settings(max_examples=50, deadline=None)
@given(st.tuples(st.integers(2, 50), st.integers(2, 50)), st.integers(0, 99))
def test_given_trains_and_tests_on_whole_parts_or_halves_each_class_of_the_test_part(classes, seed):
    load = loading(train=labels(5, 5), test=labels(*classes))
    whole, halved = (drawn(Given(each), seed, load=load) for each in (False, True))
    assert whole.train.rows is whole.test.rows is whole.validation is halved.train.rows is None
    ours, theirs = (np.array(counts(side)) for side in (halved.validation, halved.test))
    assert (ours + theirs).tolist() == list(classes)
    assert (abs(ours - theirs) <= 1).all()
    assert abs(ours.sum() - theirs.sum()) <= 1


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_splits_depend_on_the_seed_and_digests_on_the_parts_used(protocol):
    assert isinstance(protocol, SplitProtocol)
    assert type(protocol) in CLASSES
    for fold in range(protocol.splits):
        assert same(drawn(protocol, 5, fold), drawn(protocol, 6, fold)) == (protocol == Given())
    parts = ("train", "test") if protocol.name == "given" else ("train",)
    assert protocol.digests(both_parts(), Part.train) == tuple(f"digest of {part}" for part in parts)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_folds_that_are_not_there_and_negative_seeds_are_refused(protocol):
    last = protocol.splits - 1
    for fold in (-1, last + 1):
        expected = rf"{protocol.name}: fold .* {f'0 to {last}' if last else '0'}, got {fold}\."
        with pytest.raises(ParameterError, match=expected):
            drawn(protocol, 0, fold)
    if protocol != Given():
        with pytest.raises(ParameterError, match=r"seed .* >= 0, got -1"):
            drawn(protocol, -1)


@pytest.mark.parametrize("fraction", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_hold_out_is_the_front_of_the_permutation_of_seed_and_one_or_of_each_class_in_it(seed, fraction):
    y = labels(200, 800)
    order = np.random.default_rng([seed, 1]).permutation(1000)
    k = round(fraction * 1000)
    plain, stratified = (
        drawn(Holdout(fraction, stratified=each), seed, load=loading(train=y)) for each in (False, True)
    )
    assert rows_of(plain.test).tolist() == sorted(order[:k])
    first = [r for r in order if y[r] == 1][: k // 5] + [r for r in order if y[r] == -1][: k - k // 5]
    assert rows_of(stratified.test).tolist() == sorted(first)


@pytest.mark.parametrize(
    "protocol",
    [Holdout(0.25), *(TrainValidTest(0.25, 0.25, stratified=each) for each in (True, False))],
    ids=str,
)
def test_every_row_of_a_class_tests_and_validates_equally_often(protocol):
    load = loading(train=labels(40, 56))
    times = {"test": np.zeros(96), "validation": np.zeros(96)}
    for seed in range(4000):
        split = drawn(protocol, seed, load=load)
        for name in times:
            if side := getattr(split, name):
                times[name][rows_of(side)] += 1
    for name, found in times.items():
        if hasattr(protocol, f"{name}_fraction"):
            np.testing.assert_allclose(found / 4000, 0.25, atol=0.03)


def test_four_to_one_to_one():
    split = drawn(TrainValidTest(), load=loading(train=labels(100, 500)))
    assert [len(side.y) for side in split] == [400, 100, 100]


def test_a_recorded_protocol_is_the_one_that_was_used():
    for protocol in PROTOCOLS:
        assert recorded(protocol.name, asdict(protocol)) == protocol
    assert recorded("holdout", {"test_fraction": 0.3}) == Holdout(0.3, stratified=False)


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("part", [Part.all, Part.test])
def test_given_splits_no_other_part(halved, part):
    for ask in (Given(halved).digests, lambda *where: Given(halved).split(*where, seed=0)):
        with pytest.raises(ParameterError, match=f"dataset.part, got {part}"):
            ask(both_parts(), part)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        *((lambda f=f: Holdout(f), "test_fraction") for f in (0, 1, -0.1, 1.5, float("nan"))),
        (lambda: TrainValidTest(0, 0.5), "validation_fraction"),
        (lambda: TrainValidTest(0.5, float("nan")), "test_fraction"),
        (lambda: TrainValidTest(0.5, 0.5), r"validation_fraction \+ test_fraction"),
        (lambda: TrainValidTest(0.9, 0.2), r"validation_fraction \+ test_fraction"),
        (lambda: KFold(1), "folds"),
        (lambda: KFold(5, 0), "repeats"),
    ],
)
def test_fields_out_of_range_are_refused_by_name(make, field):
    with pytest.raises(ParameterError, match=rf"{field} must be .*, got"):
        make()


@pytest.mark.parametrize(
    ("protocol", "classes", "expected"),
    [
        (Holdout(), (1, 99), r"protocol=kfold"),
        (Holdout(), (1, 99), r"has 0 positive and \d+ negative rows"),
        (TrainValidTest(), (1, 99), r"has 0 positive and \d+ negative rows"),
        (TrainValidTest(0.3, 0.001, stratified=False), (28, 29), r"1 positive and 0|0 positive and 1"),
        (TrainValidTest(0.001, 0.3, stratified=False), (28, 29), r"1 positive and 0|0 positive and 1"),
        (KFold(5), (4, 50), r"5 folds for 4 positive and 50 negative"),
        (KFold(5), (50, 4), r"5 folds for 50 positive and 4 negative"),
    ],
    ids=str,
)
def test_classes_with_too_few_rows_for_all_parts_are_refused_with_their_counts(protocol, classes, expected):
    with pytest.raises(DataError, match=expected):
        drawn(protocol, 1, load=loading(train=labels(*classes)))
    if isinstance(protocol, KFold):
        assert drawn(KFold(4), load=loading(train=labels(*classes)))


def test_a_test_part_with_one_row_of_a_class_is_not_halved():
    with pytest.raises(DataError, match=r"halved=.*1 positive and 30"):
        drawn(Given(halved=True), load=loading(train=labels(5, 5), test=labels(1, 30)))


@pytest.mark.parametrize("part", ["training", "validation", "test"])
def test_a_part_of_one_class_is_refused(part):
    protocol = TrainValidTest(stratified=False)
    rows = rows_of(getattr(drawn(protocol), part.removesuffix("ing")))
    y = labels(50, 53)
    y[rows] = -1
    with pytest.raises(DataError, match=f"{part} part .* 0 positive and {len(rows)} negative"):
        drawn(protocol, load=loading(train=y))


def test_folds_of_one_class_are_refused_where_they_are_not_stratified():
    outcomes = []
    for fold in range(3):
        with pytest.raises(DataError, match=r"The (training|test) part of the split has 0 positive") as error:
            drawn(KFold(3, stratified=False), 0, fold, loading(train=labels(1, 20)))
        outcomes.append("training" in str(error.value))
    assert sorted(outcomes) == [False, False, True]


def test_folds_of_different_repeats_are_unrelated_and_more_repeats_leave_the_first_as_they_are():
    load = loading(train=labels(1000, 1000))
    splits = every_split(KFold(2, 12), load=load)
    tests = [np.isin(np.arange(2000), rows_of(split.test)) for split in splits]
    for one, other in itertools.combinations(tests[::2], 2):
        # the overlap of two random halves, 1000 rows in the mean, with a deviation of 22 at most
        assert 880 < 2 * np.count_nonzero(one & other) < 1120
    assert all(map(same, every_split(KFold(2, 1), load=load), splits[:2]))


@pytest.mark.parametrize(
    ("protocol", "seed", "expected"),
    [
        (Holdout(0.2, False), 0, {"test": [1, 11, 15, 17, 25, 29]}),
        (Holdout(0.35, False), 3, {"test": [0, 2, 9, 10, 11, 12, 13, 14, 23, 25]}),
        (
            TrainValidTest(0.2, 0.3, False),
            0,
            {"validation": [4, 5, 13, 18, 24, 28], "test": [2, 8, 9, 14, 19, 20, 22, 25, 26]},
        ),
        (
            TrainValidTest(0.2, 0.3, False),
            3,
            {"validation": [1, 2, 7, 15, 22, 24], "test": [3, 4, 5, 10, 12, 13, 14, 17, 26]},
        ),
    ],
    ids=str,
)
def test_the_rows_of_a_seed_stay_what_they_were(protocol, seed, expected):
    split = drawn(protocol, seed, load=loading(train=Y[:30]))
    assert {name: rows_of(getattr(split, name)).tolist() for name in expected} == expected
