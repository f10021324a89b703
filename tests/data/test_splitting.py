import numpy as np
import pytest

from aucbench import DataError, ParameterError
from aucbench.data import holdout
from aucbench.data.splits._random import three_parts

Y = np.where(np.arange(50) % 5 == 0, 1, -1).astype(np.int8)


def test_the_parts_are_sorted_disjoint_and_complete():
    train, test = holdout(Y, 0.2, 3)
    assert (len(train), len(test)) == (40, 10)
    assert train.dtype == test.dtype == np.int64
    assert (np.diff(train) > 0).all()
    assert (np.diff(test) > 0).all()
    assert sorted([*train, *test]) == list(range(50))


def test_the_test_rows_are_the_first_of_the_permutation_of_seed_and_one():
    expected = np.random.default_rng([3, 1]).permutation(50)[:10]
    np.testing.assert_array_equal(holdout(Y, 0.2, 3, stratified=False)[1], np.sort(expected))
    assert holdout(Y, 0.2, 4)[1].tolist() != holdout(Y, 0.2, 3)[1].tolist()


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 1.5, float("nan")])
def test_a_fraction_outside_0_and_1_is_refused(fraction):
    with pytest.raises(ParameterError, match=r"test_fraction must be > 0 and < 1"):
        holdout(Y, fraction, 0)


def test_a_negative_seed_is_refused():
    with pytest.raises(ParameterError, match=r"seed of a split must be >= 0, got -1"):
        holdout(Y, 0.2, -1)


@pytest.mark.parametrize(
    ("label", "part", "counts"),
    [
        (-1, "training", "0 positive and 40 negative"),
        (1, "training", "40 positive and 0 negative"),
        (-1, "test", "0 positive and 10 negative"),
        (1, "test", "10 positive and 0 negative"),
    ],
)
def test_a_part_of_one_class_is_refused_with_its_counts(label, part, counts):
    y = np.where(np.arange(50) % 2, 1, -1).astype(np.int8)
    y[holdout(Y, 0.2, 0, stratified=False)[0 if part == "training" else 1]] = label
    with pytest.raises(DataError, match=f"The {part} part of the split has {counts} rows"):
        holdout(y, 0.2, 0, stratified=False)


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
    assert holdout(Y[:30], fraction, seed, stratified=False)[1].tolist() == expected


@pytest.mark.parametrize(
    ("seed", "validation", "test"),
    [
        (0, [4, 5, 13, 18, 24, 28], [2, 8, 9, 14, 19, 20, 22, 25, 26]),
        (3, [1, 2, 7, 15, 22, 24], [3, 4, 5, 10, 12, 13, 14, 17, 26]),
    ],
)
def test_the_plain_random_parts_of_a_seed_stay_what_they_were(seed, validation, test):
    parts = three_parts(Y[:30], 0.2, 0.3, seed, stratified=False)
    assert [part.tolist() for part in parts[1:]] == [validation, test]
