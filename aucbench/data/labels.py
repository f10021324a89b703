"""Which class is the positive one."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from aucbench.data.facts import in_words
from aucbench.errors import DataError

_TWO_SIGNS = ({-1.0, 1.0}, {0.0, 1.0})


def positive_labels(name: str, counts: Mapping[float, int], declared: Any = None) -> frozenset[float]:
    """The labels that become +1; all others become -1.

    Declared labels decide. Of -1/+1 or 0/1 the larger is positive, of any other two the rarer (the larger of
    two equally frequent ones).

    Parameters
    ----------
    name : str
        The data set's name, for messages.
    counts : mapping
        From each label to the number of its rows; of the training part where there are parts, so that all
        parts agree.
    declared : number or iterable of numbers, optional
        The data set's `positive`.

    Raises
    ------
    DataError
        One class only; more than two without a declaration; declared labels that do not occur.
    """
    if declared is not None:
        return _declared(name, counts, declared)
    labels = sorted(counts)
    if len(labels) < 2:
        raise DataError(f"{name}: expected two classes, got {in_words(counts)} only.")
    if len(labels) > 2:
        raise DataError(
            f"{name}: expected two classes, got {len(labels)} ({in_words(counts)}); say which labels are "
            f"positive with dataset.positive={labels[0]:g} or dataset.positive=[{labels[0]:g},{labels[1]:g}]."
        )
    low, high = labels
    if set(labels) in _TWO_SIGNS or counts[high] <= counts[low]:
        return frozenset({high})
    return frozenset({low})


def _declared(name: str, counts: Mapping[float, int], declared: Any) -> frozenset[float]:
    positive = frozenset(float(p) for p in (declared if isinstance(declared, Iterable) else [declared]))
    missing = sorted(positive - set(counts))
    if missing:
        what = ", ".join(f"{label:g}" for label in missing)
        raise DataError(
            f"{name}: the positive label {what} does not occur; the data have {in_words(counts)}."
        )
    if not positive or positive == set(counts):
        which = "all" if positive else "none"
        raise DataError(
            f"{name}: expected two classes, but {which} of the labels is positive ({in_words(counts)})."
        )
    return positive


def signs(
    name: str, part: str, labels: Iterable[float], reference: Iterable[float], positive: frozenset[float]
) -> list[int]:
    """+1 or -1 for each of `labels`.

    Parameters
    ----------
    name, part : str
        The data set and the part, for messages.
    labels : iterable of float
        The labels that occur in the part.
    reference : iterable of float
        Those of the training part.
    positive : frozenset of float
        What `positive_labels` returned.

    Raises
    ------
    DataError
        A label that the training part does not have.
    """
    known = set(reference)
    if known in _TWO_SIGNS:  # -1/+1 in one file and 0/1 in the other mean the same
        known |= {-1.0, 0.0}
    unknown = sorted(label for label in labels if label not in known or math.isnan(label))
    if unknown:
        raise DataError(
            f"{name}: label {unknown[0]:g} of the {part} part does not occur in the training part, "
            f"which has {', '.join(f'{label:g}' for label in sorted(set(reference)))}."
        )
    return [1 if label in positive else -1 for label in labels]
