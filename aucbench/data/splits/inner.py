"""Subsets of the training side of any split: fewer rows, and the inner splits of tuning."""

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts.random_streams import RandomStream
from aucbench.data.splits._parts import (
    check_classes,
    class_counts,
    drawing,
    forward_fold,
    one_fold,
    permuted,
    units_of_classes,
)
from aucbench.data.splits.protocols import Side, Split
from aucbench.errors import DataError, ParameterError


def limited(split: Split, max_train_rows: int | None, seed: int) -> Split:
    """The split with at most `max_train_rows` training rows, drawn uniformly without replacement.

    A larger limit keeps all rows of a smaller limit. Raises DataError if the rows have one class only.
    """
    if max_train_rows is None:
        return split
    if max_train_rows < 2:
        raise ParameterError(f"max_train_rows must be >= 2 (or none), got {max_train_rows}.")
    n = len(split.train.y)
    if max_train_rows >= n:
        return split
    chosen = np.sort(permuted(n, drawing(seed, RandomStream.row_limit))[:max_train_rows]).astype(np.int64)
    train = _within(split.train, chosen)
    positives, negatives = class_counts(train.y)
    if positives == 0 or negatives == 0:
        raise DataError(
            f"max_train_rows={max_train_rows} leaves {positives} positive and {negatives} negative of {n} "
            "training rows, expected both classes; allow more rows or choose another split_seed."
        )
    return split._replace(train=train)


def inner_count(split: Split, folds: int) -> int:
    """The number of inner splits of a tuning.

    One if the protocol has validation rows. Otherwise the number of folds (>= 2), or the number of training
    rows of the rarer class, or of groups of rows, if that is smaller. Raises DataError if it is smaller than
    two.
    """
    if split.validation is not None:
        return 1
    if folds < 2:
        raise ParameterError(f"tuning.folds must be >= 2, got {folds}.")
    if split.train.times is not None:
        return folds
    positives, negatives, units = units_of_classes(split.train.y, split.train.groups)
    if min(positives, negatives) < 2:
        raise DataError(
            f"Tuning by cross-validation needs two training {units} of each class, got "
            f"{positives} positive and {negatives} negative; use tuning=none or protocol=train_valid_test."
        )
    return min(folds, positives, negatives)


def inner_split(split: Split, folds: int, seed: int, number: int = 0) -> Split:
    """The training rows and the test rows of tuning, which never uses the test rows of the split.

    With validation rows, tuning trains on all training rows and tests on the validation rows. Otherwise it
    tests on one stratified fold of the training rows and trains on the other folds. Inner splits are numbered
    from 0 to `inner_count` - 1.
    """
    count = inner_count(split, folds)
    if not 0 <= number < count:
        raise ParameterError(f"Tuning has {count} inner splits here, numbered from 0, got number {number}.")
    if split.validation is not None:
        return Split(split.train, split.validation)
    y = split.train.y
    if split.train.times is not None:
        train, test = forward_fold(split.train.times, count, number)
        check_classes(y, {"inner training": train, "inner test": test}, "choose fewer tuning.folds")
        return Split(_within(split.train, train), _within(split.train, test))
    rng = drawing(seed, RandomStream.inner_folds)
    train, test = one_fold(y, split.train.groups, rng, count, number)
    return Split(_within(split.train, train), _within(split.train, test))


def _within(side: Side, chosen: NDArray[np.int64]) -> Side:
    """Some rows of a side, as rows of the same X."""
    rows = chosen if side.rows is None else side.rows[chosen]
    arrays = (None if array is None else array[chosen] for array in (side.groups, side.times))
    return Side(side.X, side.y[chosen], rows, *arrays)
