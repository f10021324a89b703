"""Columns of a table that alone tell the class, that tell rows apart, or that name groups of rows.

The AUC of a column is that of its numbers, in the better direction. Categories are ranked by the share of
positive rows that each has in the other half of the rows, so that a category of a single row tells nothing.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy import sparse

from aucbench.data.readers.blocks import ColumnRecord

MOST_ROWS, MOST_VALUES = 20_000, 1 << 22  # rows looked at, and values of all columns
TELLING = 0.99  # AUC from which a column is named
FEW_ROWS = 40  # fewer rows may be ranked by any column by chance
MANY_GROUPS = 20  # different texts, or numbers with the name of an owner, from which groups are offered
_OWNER = re.compile(
    r"(?i:(^|[^a-z])p?id$|_id_|patient|subject|customer|client|user|person|household)|[a-z]I[dD]$"
)
IDENTIFYING = 0.4  # different whole numbers or texts for each row, from which a column is named


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
    found, begin = [], 0
    for column in columns:
        own = X[:, begin : begin + column.width - column.indicates]
        note = _note(own, y, column) if own.shape[1] else ""
        begin += column.width
        found.append(replace(column, note="; ".join(filter(None, (column.note, note)))))
    return found


def _note(block: Any, y: NDArray[np.int8], column: ColumnRecord) -> str:
    if column.kind == "categories":
        codes = _codes(block)
        different, what = len(np.unique(codes)), "texts"
        auc = _auc_of_categories(codes, y)
    else:
        values = np.asarray(block.todense() if sparse.issparse(block) else block, np.float64).ravel()
        whole = column.kind == "number" and bool(np.all(values == np.floor(values)))
        different, what = (len(np.unique(values)) if whole else 0), "whole numbers"
        auc = _auc(values, y)
        if sentinel := _sentinel(values):
            return sentinel
    auc = max(auc, 1.0 - auc)
    if auc >= TELLING:
        return f"alone has the AUC {auc:.4f}; leave it out if it is not known before the label"
    if different >= IDENTIFYING * len(y):
        return f"has {different:,} different {what} in {len(y):,} rows, as an identifier has (AUC {auc:.4f})"
    if different >= MANY_GROUPS and (what == "texts" or _OWNER.search(column.name)):
        where = f"has {different:,} different {what} in {len(y):,} rows"
        return f"{where}; if rows of one value belong together, set protocol.groups={column.name!r}"
    return ""


def _sentinel(values: NDArray[np.float64]) -> str:
    """A note on -999, 99 and the like, if several rows have it, farther from the others than these extend."""
    distinct, counts = np.unique(values, return_counts=True)
    for end, others in ((0, distinct[1:]), (-1, distinct[:-1])):
        text = f"{distinct[end]:.15g}"
        is_far = len(others) > 1 and np.abs(distinct[end] - others).min() > np.ptp(others)
        if counts[end] > 1 and set(text.removeprefix("-")) == {"9"} and is_far:
            where = f"in {counts[end]:,} of {len(values):,} rows, far from all other values"
            return f"has {text} {where}; if it means missing, set 'dataset.missing_words=[{text}]'"
    return ""


def _codes(block: Any) -> NDArray[np.int64]:
    """The category of each row, -1 where it has none."""
    rows, places = block.nonzero()
    codes = np.full(block.shape[0], -1, np.int64)
    codes[rows] = places
    return codes


def _auc_of_categories(codes: NDArray[np.int64], y: NDArray[np.int8]) -> float:
    half = np.random.default_rng(1).permutation(len(y)) % 2 == 0
    scores, size = np.empty(len(y)), int(codes.max()) + 2
    for own in (half, ~half):
        counts = np.bincount(codes[~own] + 1, minlength=size)
        positives = np.bincount(codes[~own] + 1, y[~own] == 1, minlength=size)
        share = (positives + np.mean(y[~own] == 1)) / (counts + 1.0)
        scores[own] = share[codes[own] + 1]
    return _auc(scores, y)


def _auc(values: NDArray[np.float64], y: NDArray[np.int8]) -> float:
    """The AUC by midranks; `aucbench.evaluation` stands beside this room, which may not import it."""
    from scipy.stats import rankdata

    positive = y == 1
    n_pos = int(np.count_nonzero(positive))
    ranks = float(rankdata(values)[positive].sum())
    return (ranks - n_pos * (n_pos + 1) / 2) / (n_pos * (len(y) - n_pos))
