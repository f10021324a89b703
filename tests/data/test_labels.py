"""Positive labels, and labels that do not make two classes."""

import pytest

from aucbench import DataError
from aucbench.data.labels import positive_labels, signs


@pytest.mark.parametrize(
    ("counts", "declared", "positive"),
    [
        ({-1: 1, 1: 9}, None, {1}),  # the larger, though it is the more frequent
        ({0: 1, 1: 9}, None, {1}),
        ({1: 1, 2: 9}, None, {1}),  # the rarer
        ({1: 9, 2: 1}, None, {2}),
        ({3: 5, 7: 5}, None, {7}),  # a tie: the larger
        ({-1: 2, 0: 9}, None, {-1}),
        ({-1: 1, 1: 9}, -1, {-1}),
        ({1: 1, 2: 1, 3: 1}, (1, 3), {1, 3}),
        ({"FALSE": 1, "TRUE": 9}, None, {"TRUE"}),
        ({0.0: 9, 1.0: 1}, True, {1.0}),
        ({0.0: 1, "True": 9}, None, {"True"}),
        ({"false": 1, 1.0: 9}, None, {1.0}),
    ],
)
def test_of_two_labels_the_larger_or_the_rarer_is_positive_unless_declared(counts, declared, positive):
    assert positive_labels("mine", counts, declared) == positive
    assert signs("mine", "test", counts, counts, positive) == [1 if k in positive else -1 for k in counts]


@pytest.mark.parametrize(
    ("counts", "declared", "message"),
    [
        ({"yes": 1, "Yes": 1, "no": 3}, "Yes", r"mine: labels Yes and yes are spellings of one"),
        ({0.0: 1, 1.0: 1, "True": 3}, True, r"labels 1 and True are spellings of one"),
        ({4: 1, 5: 1, 6: 1}, None, r"mine: .* 3 .*dataset\.positive=4 or .*=\[4,5\]"),
        (dict.fromkeys(range(1000), 1), None, r"989 more labels"),
        ({1: 5}, None, r"expected two classes, got 5 times label 1 only"),
        ({1: 5, 2: 4}, 3, r"label 3 does not occur; .* 5 times label 1 and 4 times label 2"),
        ({1: 5, 2: 4}, (1, 2), r"all of the labels is positive"),
        ({1: 5, 2: 4}, (), r"none of the labels is positive"),
    ],
)
def test_labels_that_make_no_two_classes_are_refused(counts, declared, message):
    with pytest.raises(DataError, match=message):
        positive_labels("mine", counts, declared)
