import pytest

from aucbench import DataError
from aucbench.data.labels import positive_labels, signs


@pytest.mark.parametrize(
    ("counts", "positive"),
    [
        ({-1: 1, 1: 9}, 1),  # the larger, though it is the more frequent
        ({0: 1, 1: 9}, 1),
        ({1: 1, 2: 9}, 1),  # the rarer
        ({1: 9, 2: 1}, 2),
        ({3: 5, 7: 5}, 7),  # a tie: the larger
        ({-1: 2, 0: 9}, -1),
    ],
)
def test_of_two_labels_the_larger_or_the_rarer_is_positive(counts, positive):
    assert positive_labels("mine", counts) == {positive}


def test_declared_labels_decide():
    assert positive_labels("mine", {-1: 1, 1: 9}, -1) == {-1}
    assert positive_labels("mine", {1: 1, 2: 1, 3: 1}, (1, 3)) == {1, 3}


def test_several_classes_need_a_declaration_and_the_message_says_how():
    with pytest.raises(DataError, match=r"mine: .* 3 .*dataset\.positive=4 or .*=\[4,5\]"):
        positive_labels("mine", {4: 1, 5: 1, 6: 1})


def test_many_classes_are_not_all_listed():
    with pytest.raises(DataError, match=r"989 more labels"):
        positive_labels("mine", dict.fromkeys(range(1000), 1))


@pytest.mark.parametrize(
    ("counts", "declared", "message"),
    [
        ({1: 5}, None, r"expected two classes, got 5 times label 1 only"),
        (
            {1: 5, 2: 4},
            3,
            r"the positive label 3 does not occur; the data have 5 times label 1 and 4 times label 2",
        ),
        ({1: 5, 2: 4}, (1, 2), r"all of the labels is positive"),
        ({1: 5, 2: 4}, (), r"none of the labels is positive"),
    ],
)
def test_labels_that_make_no_two_classes_are_refused(counts, declared, message):
    with pytest.raises(DataError, match=message):
        positive_labels("mine", counts, declared)


def test_signs_are_plus_one_for_the_positive_labels():
    assert signs("mine", "test", [3, 1, 2], [1, 2, 3], frozenset({1, 3})) == [1, 1, -1]
