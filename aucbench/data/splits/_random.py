"""Splitting rows at random: sides, folds and subsets of row numbers, always ascending."""

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import DataError, ParameterError

Rows = NDArray[np.int64]


class Purpose(IntEnum):
    """What random numbers of a split seed are for; no two purposes share a stream.

    0 is the method's own generator, which is made of the seed alone (NumPy fills up with zeros); 2 to 10 are
    left to what is no split: the order, the feature map, the grouping of classes, the settings tried.
    """

    holdout = 1
    train_valid_test = 11
    kfold = 12
    halves = 13
    tuning = 14
    limit = 15


def permutation(n: int, seed: int, purpose: Purpose, number: int = 0) -> Rows:
    """The permutation of 0..n-1 that ``numpy.random.default_rng([seed, purpose, number])`` draws.

    Number 0 is the stream of ``[seed, purpose]``, and no purpose uses it for anything else.

    Raises
    ------
    ParameterError
        The seed is negative.
    """
    if seed < 0:
        raise ParameterError(f"The seed of a split must be >= 0, got {seed}.")
    rng = np.random.default_rng([seed, int(purpose), number])
    return rng.permutation(n).astype(np.int64, copy=False)


def ascending(n: int, chosen: Rows) -> Rows:
    """The chosen of n rows in ascending order, in O(n) and without a sort."""
    return np.flatnonzero(_marked(n, chosen)).astype(np.int64, copy=False)


def holdout(y: NDArray[Any], test_fraction: float, seed: int, stratified: bool = True) -> tuple[Rows, Rows]:
    """A random split: round(test_fraction * n) rows, at least one, are held out.

    The permutation is that of ``numpy.random.default_rng([seed, 1])``; its first rows are the test part, and
    the first ones of either class if the split is stratified.

    Parameters
    ----------
    y : (n,) array
        Labels in {-1, 1}.
    test_fraction : float
        Between 0 and 1, both excluded.
    seed : int
        Not negative.
    stratified : bool
        Whether both parts have the classes in the same proportion, within one row, and both at least one row
        of either class where there are two.

    Returns
    -------
    train_rows, test_rows : int64 arrays
        Row numbers, ascending.

    Raises
    ------
    ParameterError
        The fraction or the seed is out of range.
    DataError
        A part has one class only.
    """
    if not 0.0 < test_fraction < 1.0:
        raise ParameterError(f"protocol.test_fraction must be > 0 and < 1, got {test_fraction}.")
    n = len(y)
    order = permutation(n, seed, Purpose.holdout)
    (held_out,) = _first(y, order, [max(1, round(test_fraction * n))], stratified)
    train, test = _apart(n, held_out)
    advice = "choose another protocol.test_fraction or split_seed"
    check_classes(y, {"training": train, "test": test}, advice)
    return train, test


def three_parts(
    y: NDArray[Any], validation_fraction: float, test_fraction: float, seed: int, stratified: bool = True
) -> tuple[Rows, Rows, Rows]:
    """A random split into three: of each of the two smaller parts its fraction of the rows, at least one.

    Parameters
    ----------
    y : (n,) array
        Labels in {-1, 1}.
    validation_fraction, test_fraction : float
        Above 0, together below 1.
    seed : int
        Not negative.
    stratified : bool
        As for `holdout`, of all three parts.

    Returns
    -------
    train_rows, validation_rows, test_rows : int64 arrays
        Row numbers, ascending.

    Raises
    ------
    ParameterError
        The seed is negative.
    DataError
        A part has one class only.
    """
    n = len(y)
    order = permutation(n, seed, Purpose.train_valid_test)
    sizes = [max(1, round(fraction * n)) for fraction in (test_fraction, validation_fraction)]
    tested, validating = _first(y, order, sizes, stratified)
    train, _ = _apart(n, np.concatenate([tested, validating]))
    validation, test = ascending(n, validating), ascending(n, tested)
    advice = "choose other fractions or another split_seed"
    check_classes(y, {"training": train, "validation": validation, "test": test}, advice)
    return train, validation, test


def one_fold(
    y: NDArray[Any], order: Rows, folds: int, number: int, stratified: bool = True
) -> tuple[Rows, Rows]:
    """All rows but those of a fold, and the rows of the fold.

    The folds deal out the permuted rows in turn. Stratified, first all positive and then all negative rows
    are dealt out, so that both the rows of a class and all rows of two folds differ by one at most.

    Parameters
    ----------
    y : (n,) array
        Labels in {-1, 1}.
    order : (n,) int64 array
        A permutation of the rows.
    folds : int
        Their number.
    number : int
        Which of them, from 0.
    stratified : bool
        Whether every fold has the classes in the same proportion.

    Returns
    -------
    other_rows, fold_rows : int64 arrays
        Row numbers, ascending.
    """
    if stratified:
        positive = y[order] == 1
        order = np.concatenate([order[positive], order[~positive]])
    return _apart(len(y), order[number::folds])


def class_counts(y: NDArray[Any]) -> tuple[int, int]:
    """How many rows are positive, and how many negative."""
    positives = int(np.count_nonzero(y == 1))
    return positives, len(y) - positives


def check_classes(y: NDArray[Any], parts: dict[str, Rows], advice: str) -> None:
    """Refuse a part of a split that lacks a class.

    Raises
    ------
    DataError
        Names the part and its counts, and gives the advice.
    """
    for part, rows in parts.items():
        positives, negatives = class_counts(y[rows])
        if positives == 0 or negatives == 0:
            raise DataError(
                f"The {part} part of the split has {positives} positive and {negatives} negative rows, "
                f"expected both classes; {advice}."
            )


def _first(y: NDArray[Any], order: Rows, sizes: list[int], stratified: bool) -> list[Rows]:
    """Parts of these sizes, one after the other from the front of the order, or of its rows of either class.

    A stratified part has at least one row of a class that has enough of them for all parts and the rest.
    """
    if not stratified:
        return np.split(order, np.cumsum(sizes))[:-1]
    positive = y[order] == 1
    positives, negatives = order[positive], order[~positive]
    parts = []
    for number, size in enumerate(sizes):
        share = round(size * np.count_nonzero(positive) / len(order))
        others = len(sizes) - number  # parts that follow, and the training rows
        p = max(0, min(max(1, share), len(positives) - others))
        q = max(0, min(max(1, size - share), len(negatives) - others))
        parts.append(np.concatenate([positives[:p], negatives[:q]]))
        positives, negatives = positives[p:], negatives[q:]
    return parts


def _apart(n: int, chosen: Rows) -> tuple[Rows, Rows]:
    """The rows that are not chosen, and those that are."""
    mask = _marked(n, chosen)
    others, rows = np.flatnonzero(~mask), np.flatnonzero(mask)
    return others.astype(np.int64, copy=False), rows.astype(np.int64, copy=False)


def _marked(n: int, chosen: Rows) -> NDArray[np.bool_]:
    mask = np.zeros(n, np.bool_)
    mask[chosen] = True
    return mask
