"""Notes on columns of a table that alone predict the class, that identify rows, or that name groups of rows.

The AUC of a column is the AUC of its numbers, in the better direction. Categories are ranked by their share
of positive rows in the other half of the rows, so that a category of a single row has no effect.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy import sparse

from aucbench.data.readers.blocks import ColumnRecord

MOST_ROWS, MOST_VALUES = 20_000, 1 << 22  # limits of the sample: rows, and values of all columns
TELLING = 0.99  # least AUC of a column with a note
FEW_ROWS = 40  # fewer rows may be ranked by any column by chance
MANY_GROUPS = 20  # least number of distinct texts, or numbers of a column of owners, to suggest groups
_OWNER = re.compile(
    r"(?i:(^|[^a-z])p?id$|_id_|patient|subject|customer|client|user|person|household)|[a-z]I[dD]$"
)
IDENTIFYING = 0.4  # least ratio of distinct whole numbers or texts to rows, for a note


def with_leaks(X: Any, y: NDArray[np.int8], columns: Sequence[ColumnRecord]) -> list[ColumnRecord]:
    """The records with notes on columns that rank the classes alone, or have a value for every row or two.

    `X` (n, d), dense or CSR, has the encoded rows, the columns of zeros and ones of a column side by side,
    `y` (n,) the labels in {-1, 1}, and `columns` all columns of the table, in order.
    """
    rows = min(MOST_ROWS, max(2 * FEW_ROWS, MOST_VALUES // max(1, X.shape[1])))
    if len(y) > rows:
        chosen = np.sort(np.random.default_rng(0).choice(len(y), rows, replace=False))
        X, y = X[chosen], y[chosen]
    if len(y) < FEW_ROWS or len(np.unique(y)) < 2:
        return list(columns)
    X = X.tocsc() if sparse.issparse(X) else np.asarray(X)
    records, begin = [], 0
    for column in columns:
        encoded = X[:, begin : begin + column.width - column.indicates]
        note = _note(encoded, y, column) if encoded.shape[1] else ""
        begin += column.width
        records.append(replace(column, note="; ".join(filter(None, (column.note, note)))))
    return records


def _note(block: Any, y: NDArray[np.int8], column: ColumnRecord) -> str:
    if column.kind == "categories":
        codes = _codes(block)
        distinct, noun = len(np.unique(codes)), "texts"
        auc = _auc_of_categories(codes, y)
    else:
        values = np.asarray(block.todense() if sparse.issparse(block) else block, np.float64).ravel()
        is_whole = column.kind == "number" and bool(np.all(values == np.floor(values)))
        distinct, noun = (len(np.unique(values)) if is_whole else 0), "whole numbers"
        auc = _auc(values, y)
        if sentinel := _sentinel(values):
            return sentinel
    auc = max(auc, 1.0 - auc)
    if auc >= TELLING:
        return f"alone has the AUC {auc:.4f}; leave it out if it is not known before the label"
    if distinct >= IDENTIFYING * len(y):
        return f"has {distinct:,} different {noun} in {len(y):,} rows, as an identifier has (AUC {auc:.4f})"
    if distinct >= MANY_GROUPS and (noun == "texts" or _OWNER.search(column.name)):
        where = f"has {distinct:,} different {noun} in {len(y):,} rows"
        return f"{where}; if rows of one value belong together, set protocol.groups={column.name!r}"
    return ""


def _sentinel(values: NDArray[np.float64]) -> str:
    """A note on a value such as -999 of several rows, if its distance to the others exceeds their range."""
    distinct, counts = np.unique(values, return_counts=True)
    for end, remaining in ((0, distinct[1:]), (-1, distinct[:-1])):
        text = f"{distinct[end]:.15g}"
        is_far = len(remaining) > 1 and np.abs(distinct[end] - remaining).min() > np.ptp(remaining)
        if counts[end] > 1 and set(text.removeprefix("-")) == {"9"} and is_far:
            where = f"in {counts[end]:,} of {len(values):,} rows, far from all other values"
            return f"has {text} {where}; if it means missing, set 'dataset.missing_words=[{text}]'"
    return ""


def _codes(block: Any) -> NDArray[np.int64]:
    """The category of each row, -1 for a row without a category."""
    rows, columns = block.nonzero()
    codes = np.full(block.shape[0], -1, np.int64)
    codes[rows] = columns
    return codes


def _auc_of_categories(codes: NDArray[np.int64], y: NDArray[np.int8]) -> float:
    first_half = np.random.default_rng(1).permutation(len(y)) % 2 == 0
    scores, size = np.empty(len(y)), int(codes.max()) + 2
    for half in (first_half, ~first_half):
        counts = np.bincount(codes[~half] + 1, minlength=size)
        positives = np.bincount(codes[~half] + 1, y[~half] == 1, minlength=size)
        share = (positives + np.mean(y[~half] == 1)) / (counts + 1.0)
        scores[half] = share[codes[half] + 1]
    return _auc(scores, y)


def _auc(values: NDArray[np.float64], y: NDArray[np.int8]) -> float:
    """The AUC by midranks; this package must not import `aucbench.evaluation`."""
    from scipy.stats import rankdata

    positive = y == 1
    n_pos = int(np.count_nonzero(positive))
    ranks = float(rankdata(values)[positive].sum())
    return (ranks - n_pos * (n_pos + 1) / 2) / (n_pos * (len(y) - n_pos))
