"""Parts, folds and subsets of row numbers, always ascending: drawn at random, or in the order of time.

In the order of time, training rows come before the rows that test them, and rows of one time are never
divided: the parts have their fractions of the rows as nearly as times allow.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.data.splits.grouped import Rows, deal
from aucbench.errors import DataError, ParameterError


def permuted(n: int, rng: np.random.Generator) -> Rows:
    """``rng.permutation(n)`` as integers of 32 bits if these are large enough."""
    order: Rows = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    rng.shuffle(order)
    return order


def drawing(seed: int, stream: RandomStream, number: int = 0) -> np.random.Generator:
    """The generator of a split, ``numpy.random.default_rng([seed, stream, number])``.

    Number 0 is the stream of ``[seed, stream]``, and no stream uses it for anything else.
    """
    if seed < 0:
        raise ParameterError(f"The seed of a split must be >= 0, got {seed}.")
    return generator(seed, stream, number)


def random_parts(
    y: NDArray[Any],
    groups: Rows | None,
    fractions: dict[str, float],
    rng: np.random.Generator,
    stratified: bool,
    advice: str,
) -> tuple[Rows, ...]:
    """The training rows and disjoint parts of n rows, each part with its fraction and at least one row.

    Parts are taken from the front of a permutation, one after the other; if stratified, from the front of its
    rows of either class, so that all parts have the classes in the same proportion, within one row, and at
    least one row of a class that has enough rows. With groups (n,), `deal` keeps each group in one part.

    A part that lacks a class is refused; `advice` ends the message.
    """
    part: NDArray[Any]
    if groups is not None:
        part = deal(y, groups, [1.0 - sum(fractions.values()), *fractions.values()], rng, stratified)
    else:
        part = _parts_of_rows(y, [*fractions.values()], rng, stratified)
    parts = {name: np.flatnonzero(part == k) for k, name in enumerate(("training", *fractions))}
    check_classes(y, parts, advice)
    return tuple(parts.values())


def _parts_of_rows(
    y: NDArray[Any], fractions: list[float], rng: np.random.Generator, stratified: bool
) -> NDArray[np.uint8]:
    """(n,) the part of each row, 0 for training and from 1 in the order of the fractions."""
    n, part = len(y), np.zeros(len(y), np.uint8)
    order = permuted(n, rng)
    positive = y[order] == 1
    positives = np.count_nonzero(positive)
    classes = [order[positive], order[~positive]] if stratified else [order]
    del order, positive
    for number, fraction in enumerate(fractions):
        sizes = [max(1, round(fraction * n))]
        if stratified:
            share = round(sizes[0] * positives / n)
            targets = max(1, share), max(1, sizes[0] - share)
            later = len(fractions) - number  # parts that follow, and the training rows
            sizes = [max(0, min(k, len(rows) - later)) for k, rows in zip(targets, classes, strict=True)]
        for k, rows in zip(sizes, classes, strict=True):
            part[rows[:k]] = number + 1
        classes = [rows[k:] for k, rows in zip(sizes, classes, strict=True)]
    return part


def one_fold(
    y: NDArray[Any],
    groups: Rows | None,
    rng: np.random.Generator,
    folds: int,
    number: int,
    stratified: bool = True,
) -> tuple[Rows, Rows]:
    """All rows but those of a fold, and the rows of the fold.

    The permuted rows are dealt out to the folds in turn. If stratified, first all positive and then all
    negative rows are dealt out, so that both the rows of a class and all rows of two folds differ by one at
    most. With groups (n,), `deal` keeps each group in one fold.
    """
    if groups is not None:
        fold = deal(y, groups, np.full(folds, 1.0 / folds), rng, stratified) == number
    else:
        order = permuted(len(y), rng)
        if stratified:
            positive = y[order] == 1
            order = np.concatenate([order[positive], order[~positive]])
        fold = np.zeros(len(y), np.bool_)
        fold[order[number::folds]] = True
    return np.flatnonzero(~fold), np.flatnonzero(fold)


def class_counts(y: NDArray[Any]) -> tuple[int, int]:
    """The numbers of positive and of negative rows."""
    positives = int(np.count_nonzero(y == 1))
    return positives, len(y) - positives


def units_of_classes(y: NDArray[Any], groups: Rows | None) -> tuple[int, int, str]:
    """The numbers of rows, or groups of rows, with positive and with negative labels, and their unit."""
    if groups is None:
        return *class_counts(y), "rows"
    return len(np.unique(groups[y == 1])), len(np.unique(groups[y != 1])), "groups of rows"


def check_classes(y: NDArray[Any], parts: dict[str, Rows], advice: str) -> None:
    """Refuse a part of a split that lacks a class."""
    for part, rows in parts.items():
        positives, negatives = class_counts(y[rows])
        if positives == 0 or negatives == 0:
            raise DataError(
                f"The {part} part of the split has {positives} positive and {negatives} negative rows, "
                f"expected both classes; {advice}."
            )


def forward_parts(times: NDArray[np.float64], *fractions: float) -> list[Rows]:
    """The rows, by time (n,), of the training part and of later parts with these fractions; rows ascend."""
    return _blocks(times, np.cumsum([1.0 - sum(fractions), *fractions])[:-1])


def forward_fold(times: NDArray[np.float64], folds: int, number: int) -> tuple[Rows, Rows]:
    """All rows before a fold, and its rows; fold 0 is the second of folds + 1 blocks in time."""
    blocks = _blocks(times, np.arange(1, folds + 1) / (folds + 1))
    return np.sort(np.concatenate(blocks[: number + 1])), blocks[number + 1]


def _blocks(times: NDArray[np.float64], cuts: NDArray[np.float64]) -> list[Rows]:
    """Blocks of rows in the order of time, cut at shares of their number, never between equal times."""
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    starts = np.flatnonzero(np.diff(ordered)) + 1  # start of each further time
    if len(starts) < len(cuts):
        raise DataError(
            f"protocol.time has {len(starts) + 1} different times, expected {len(cuts) + 1} or more to "
            "divide the rows between; use another column, or fewer folds."
        )
    chosen: list[int] = []
    for k, target in enumerate(cuts * len(times)):
        candidates = starts[len(chosen) and np.searchsorted(starts, chosen[-1], "right") :]
        candidates = candidates[: len(candidates) - (len(cuts) - 1 - k)]  # leave one for each later cut
        chosen.append(int(candidates[np.argmin(np.abs(candidates - target))]))
    return [np.sort(block) for block in np.split(order, chosen)]
