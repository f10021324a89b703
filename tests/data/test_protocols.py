import contextlib
import itertools
import re
from dataclasses import asdict

import numpy as np
import pytest

from aucbench import DataError, ParameterError
from aucbench.data.loader import Loaded, Part
from aucbench.data.splits.protocols import PROTOCOLS as CLASSES
from aucbench.data.splits.protocols import Given, Holdout, KFold, SplitProtocol, TrainValidTest, recorded
from tests.data.split_examples import (
    PROTOCOLS,
    check_labels_and_order,
    counts,
    drawn,
    example,
    labels,
    loading,
    rows_of,
    sides,
)

Y = np.where(np.arange(50) % 5 == 0, 1, -1).astype(np.int8)


def every_split(protocol, seed=0, load=None):
    return [drawn(protocol, seed, fold, load) for fold in range(protocol.splits)]


def same(one, other):
    return all(np.array_equal(rows_of(a), rows_of(b)) for a, b in zip(sides(one), sides(other), strict=True))


def test_all_four_are_listed_and_are_protocols():
    assert [cls.name for cls in CLASSES] == ["holdout", "given", "train_valid_test", "kfold"]
    assert all(isinstance(cls(), SplitProtocol) for cls in CLASSES)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_sides_of_a_part_are_disjoint_and_cover_it(protocol):
    load = example()
    for split in every_split(protocol, load=load):
        for part in (Part.train, Part.test):
            rows = [rows_of(side) for side in sides(split) if side.X is load(part).X]
            if rows:
                assert sorted(np.concatenate(rows)) == list(range(len(load(part).y)))


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_rows_ascend_and_labels_are_theirs(protocol):
    load = example()
    for split in every_split(protocol, load=load):
        for side in sides(split):
            check_labels_and_order(side, load)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_a_split_is_the_same_each_time_and_another_for_each_seed(protocol):
    for fold in range(protocol.splits):
        assert same(drawn(protocol, 5, fold), drawn(protocol, 5, fold))
        assert same(drawn(protocol, 5, fold), drawn(protocol, 6, fold)) == (protocol == Given())


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_a_fold_that_is_not_there_is_refused(protocol):
    last = protocol.splits - 1
    expected = f"protocol={protocol.name}: fold must be {f'0 to {last}' if last else '0'}, got"
    for fold in (-1, last + 1):
        with pytest.raises(ParameterError, match=re.escape(f"{expected} {fold}.")):
            drawn(protocol, 0, fold)


@pytest.mark.parametrize("protocol", [each for each in PROTOCOLS if each != Given()], ids=str)
def test_a_negative_seed_is_refused(protocol):
    with pytest.raises(ParameterError, match=r"seed of a split must be >= 0, got -1"):
        drawn(protocol, -1)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_the_digests_are_those_of_the_parts_used(protocol):
    parts = ("train", "test") if protocol.name == "given" else ("train",)
    assert protocol.digests(example(), Part.train) == tuple(f"digest of {part}" for part in parts)


def test_the_rows_of_a_hold_out_are_those_of_the_permutation_of_seed_and_one():
    load = example()
    for seed, fraction in itertools.product(range(5), (0.1, 0.2, 0.5)):
        split = drawn(Holdout(fraction, stratified=False), seed, load=load)
        order = np.random.default_rng([seed, 1]).permutation(103)
        held_out = round(fraction * 103)
        assert rows_of(split.test).tolist() == sorted(order[:held_out])
        assert rows_of(split.train).tolist() == sorted(order[held_out:])


SPLITS = [Holdout(), Holdout(0.5), Holdout(0.03), TrainValidTest(), TrainValidTest(0.05, 0.4)]


@pytest.mark.parametrize(("positives", "negatives"), [(41, 896), (896, 41), (30, 30), (5, 7), (3, 400)])
@pytest.mark.parametrize("protocol", SPLITS, ids=str)
def test_all_parts_have_the_classes_in_proportion_within_one_row_and_both_classes(
    protocol, positives, negatives
):
    n = positives + negatives
    load = loading(train=labels(positives, negatives))
    for seed in range(10):
        split = drawn(protocol, seed, load=load)
        found = np.array([counts(side) for side in sides(split)])
        assert found.sum(axis=0).tolist() == [positives, negatives]
        assert found.min() >= 1
        shares = found.sum(axis=1, keepdims=True) * [positives / n, negatives / n]
        # A part that has one row of a class only because it must have one may be off by more elsewhere.
        assert (abs(found - shares) <= 1).all() or found.min() == 1
        held_out = max(1, round(protocol.test_fraction * n))
        assert len(split.test.y) == held_out or (found.min() == 1 and len(split.test.y) == held_out + 1)


def test_the_rows_of_a_stratified_hold_out_are_the_first_of_either_class_in_the_permutation():
    y = labels(41, 896)
    rows = rows_of(drawn(Holdout(), 7, load=loading(train=y)).test)
    order = np.random.default_rng([7, 1]).permutation(937)
    first = [r for r in order if y[r] == 1][:8] + [r for r in order if y[r] == -1][:179]
    assert rows.tolist() == sorted(first)


@pytest.mark.parametrize("protocol", [Holdout(0.25), TrainValidTest(0.25, 0.25)], ids=str)
def test_every_row_of_a_class_is_held_out_equally_often(protocol):
    load = loading(train=labels(8, 24))
    tested = np.zeros(32)
    for seed in range(4000):
        tested[rows_of(drawn(protocol, seed, load=load).test)] += 1
    np.testing.assert_allclose(tested / 4000, 0.25, atol=0.03)


@pytest.mark.parametrize("protocol", [Holdout(), TrainValidTest()], ids=str)
def test_a_class_with_too_few_rows_for_all_parts_is_refused_with_its_counts(protocol):
    with pytest.raises(DataError, match=r"has 0 positive and \d+ negative rows"):
        drawn(protocol, load=loading(train=labels(1, 99)))


def test_a_recorded_protocol_is_the_one_that_was_used():
    for protocol in (*SPLITS, Holdout(stratified=False), Given(halved=True), KFold(stratified=False)):
        assert recorded(protocol.name, asdict(protocol)) == protocol
    assert recorded("holdout", {"test_fraction": 0.3}) == Holdout(0.3, stratified=False)


@pytest.mark.parametrize("halved", [False, True])
def test_given_trains_on_all_of_the_training_part_and_on_no_other(halved):
    split = drawn(Given(halved))
    assert split.train.rows is None
    for refused in (Part.all, Part.test):
        for ask in (Given(halved).digests, lambda *where: Given().split(*where, seed=0)):
            with pytest.raises(ParameterError, match=f"leave out dataset.part, got {refused}"):
                ask(example(), refused)


def test_without_halves_all_test_rows_test():
    split = drawn(Given())
    assert split.test.rows is None
    assert split.validation is None


@pytest.mark.parametrize(("positives", "negatives"), [(9, 32), (9, 31), (10, 30), (2, 2), (3, 2)])
def test_halves_have_half_of_each_class_within_one_row(positives, negatives):
    load = loading(train=labels(5, 5), test=labels(positives, negatives))
    for seed in range(5):
        split = drawn(Given(halved=True), seed, load=load)
        ours, theirs = np.array(counts(split.validation)), np.array(counts(split.test))
        assert (ours + theirs).tolist() == [positives, negatives]
        assert (abs(ours - theirs) <= 1).all()
        assert abs(ours.sum() - theirs.sum()) <= 1


def test_a_test_part_with_one_row_of_a_class_is_not_halved():
    load = loading(train=labels(5, 5), test=labels(1, 30))
    with pytest.raises(DataError, match=r"halved=true .*1 positive and 30"):
        drawn(Given(halved=True), load=load)


def test_four_to_one_to_one():
    split = drawn(TrainValidTest(), load=loading(train=labels(100, 500)))
    assert [len(side.y) for side in split] == [400, 100, 100]


@pytest.mark.parametrize(("validation", "test"), [(0.1, 0.3), (0.26, 0.5), (0.7, 0.2), (0.4, 0.07)])
def test_fractions_are_rounded(validation, test):
    load = loading(train=labels(28, 29))
    split = drawn(TrainValidTest(validation, test), 1, load=load)
    assert len(split.validation.y) == round(validation * 57)
    assert len(split.test.y) == round(test * 57)


def test_a_small_fraction_has_a_row_at_least():
    for fractions in ((0.3, 0.001), (0.001, 0.3)):
        with pytest.raises(DataError, match=r"has (1 positive and 0|0 positive and 1) negative rows"):
            drawn(TrainValidTest(*fractions, stratified=False), 1, load=loading(train=labels(28, 29)))


def test_every_row_tests_and_validates_equally_often():
    load = loading(train=np.array([1, -1] * 3, np.int8))
    seen = {"test": np.zeros(6), "validation": np.zeros(6)}
    protocol = TrainValidTest(1 / 3, 1 / 3, stratified=False)
    made = 0
    for seed in range(6000):
        with contextlib.suppress(DataError):  # a pair of one class
            split = drawn(protocol, seed, load=load)
            made += 1
            for name, times in seen.items():
                times[rows_of(getattr(split, name))] += 1
    for times in seen.values():
        np.testing.assert_allclose(times / made, 1 / 3, atol=0.04)


def test_fractions_that_leave_nothing_to_train_on_are_refused():
    for fractions in ((0.5, 0.5), (0.9, 0.2)):
        with pytest.raises(
            ParameterError, match=r"validation_fraction \+ test_fraction must be < 1, so that"
        ):
            TrainValidTest(*fractions)
    for fraction in (0, 1, -0.1, 1.5, float("nan")):
        with pytest.raises(ParameterError, match=r"test_fraction .* got"):
            Holdout(fraction)
    for fractions in ((0, 0.5), (0.5, 1.0), (0.5, float("nan"))):
        with pytest.raises(ParameterError, match=r"_fraction must be > 0 and < 1"):
            TrainValidTest(*fractions)


@pytest.mark.parametrize("part", ["training", "validation", "test"])
def test_a_part_of_one_class_is_refused(part):
    names = {"training": "train"}
    protocol = TrainValidTest(stratified=False)
    rows = rows_of(getattr(drawn(protocol), names.get(part, part)))
    y = labels(50, 53)
    y[rows] = -1
    with pytest.raises(DataError, match=f"{part} part .* 0 positive and {len(rows)} negative"):
        drawn(protocol, load=loading(train=y))


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize(("folds", "repeats"), [(2, 1), (5, 5), (5, 10), (7, 3)])
def test_within_a_repeat_every_row_tests_once(folds, repeats, stratified):
    protocol = KFold(folds, repeats, stratified)
    assert protocol.splits == folds * repeats
    splits = every_split(protocol, 2)
    for repeat in range(repeats):
        of_repeat = splits[repeat * folds : (repeat + 1) * folds]
        assert sorted(np.concatenate([rows_of(split.test) for split in of_repeat])) == list(range(103))
        sizes = [len(split.test.y) for split in of_repeat]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(("positives", "negatives"), [(23, 80), (5, 5), (5, 103), (104, 7), (6, 6)])
@pytest.mark.parametrize("folds", [2, 3, 5])
def test_stratified_folds_have_equally_many_rows_of_each_class_within_one(positives, negatives, folds):
    load = loading(train=labels(positives, negatives))
    found = np.array([counts(split.test) for split in every_split(KFold(folds), load=load)])
    assert found.sum(axis=0).tolist() == [positives, negatives]
    assert (np.ptp(found, axis=0) <= 1).all()
    assert np.ptp(found.sum(axis=1)) <= 1


def test_folds_of_different_repeats_are_unrelated():
    load = loading(train=labels(1000, 1000))
    protocol = KFold(2, 12)
    tests = [np.isin(np.arange(2000), rows_of(split.test)) for split in every_split(protocol, load=load)]
    for one, other in itertools.combinations(tests[::2], 2):
        # the overlap of two random halves, 1000 rows in the mean, with a deviation of 22 at most
        assert 880 < 2 * np.count_nonzero(one & other) < 1120


def test_more_repeats_leave_the_first_ones_as_they_are():
    for fold in range(5):
        assert same(drawn(KFold(5, 1), 4, fold), drawn(KFold(5, 5), 4, fold))


def test_fields_of_folds_are_checked():
    with pytest.raises(ParameterError, match=r"kfold: folds must be >= 2, got 1"):
        KFold(1)
    with pytest.raises(ParameterError, match=r"kfold: repeats must be >= 1, got 0"):
        KFold(5, 0)


@pytest.mark.parametrize("classes", [(4, 50), (50, 4)])
def test_more_folds_than_rows_of_the_rarer_class_are_refused(classes):
    load = loading(train=labels(*classes))
    assert drawn(KFold(4), load=load)
    with pytest.raises(DataError, match=f"5 folds for {classes[0]} positive and {classes[1]} negative"):
        drawn(KFold(5), load=load)


def test_folds_of_one_class_are_refused_where_they_are_not_stratified():
    load = loading(train=labels(1, 20))
    outcomes = []
    for fold in range(3):
        with pytest.raises(DataError, match=r"The (training|test) part of the split has 0 positive") as error:
            drawn(KFold(3, stratified=False), 0, fold, load)
        outcomes.append("training" in str(error.value))
    assert sorted(outcomes) == [False, False, True]


@pytest.mark.parametrize(
    ("fraction", "seed", "expected"),
    [
        (0.2, 0, [1, 11, 15, 17, 25, 29]),
        (0.2, 3, [2, 10, 11, 13, 14, 23]),
        (0.35, 0, [1, 11, 15, 16, 17, 20, 21, 25, 26, 29]),
        (0.35, 3, [0, 2, 9, 10, 11, 12, 13, 14, 23, 25]),
    ],
)
def test_the_test_rows_of_a_seed_stay_what_they_were(fraction, seed, expected):
    split = drawn(Holdout(fraction, stratified=False), seed, load=loading(train=Y[:30]))
    assert rows_of(split.test).tolist() == expected


@pytest.mark.parametrize(
    ("seed", "validation", "test"),
    [
        (0, [4, 5, 13, 18, 24, 28], [2, 8, 9, 14, 19, 20, 22, 25, 26]),
        (3, [1, 2, 7, 15, 22, 24], [3, 4, 5, 10, 12, 13, 14, 17, 26]),
    ],
)
def test_the_plain_random_parts_of_a_seed_stay_what_they_were(seed, validation, test):
    split = drawn(TrainValidTest(0.2, 0.3, stratified=False), seed, load=loading(train=Y[:30]))
    assert [rows_of(side).tolist() for side in (split.validation, split.test)] == [validation, test]


def test_where_a_class_has_few_rows_the_advice_is_a_protocol_that_can_split_them():
    y = np.repeat(np.array([1, -1], np.int8), [10, 190])
    loaded = Loaded(np.zeros((200, 1)), y, "", "", (1.0,))
    protocol = Holdout(stratified=False)
    tested = protocol.split(lambda part: loaded, Part.train, 1).test.rows  # the rows do not depend on y
    none = np.full(200, -1, np.int8)
    none[np.setdiff1d(np.arange(200), tested)[:10]] = 1
    with pytest.raises(DataError, match="protocol=kfold"):
        protocol.split(lambda part: loaded._replace(y=none), Part.train, 1)
    for fold in range(5):
        split = KFold(folds=5).split(lambda part: loaded, Part.train, 0, fold)
        assert np.count_nonzero(split.test.y == 1) == 2
