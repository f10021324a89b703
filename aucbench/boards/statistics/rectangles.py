"""Which methods and data sets make a table without gaps, and what was left out for it."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


class Rectangle(NamedTuple):
    """A table without gaps and what had to go for it."""

    table: "pd.DataFrame"  # one row a data set, one column a method
    dropped_datasets: tuple[Hashable, ...]
    dropped_methods: tuple[Hashable, ...]


def complete_rectangle(table: "pd.DataFrame") -> Rectangle:
    """The part of a table that has no gaps.

    Again and again the row or column with the largest share of gaps goes, until there is none. Of a data
    set and a method with equal shares the method goes, so that a failure costs the method that failed and
    not the evidence about the others; of equal methods or data sets, the last.

    Parameters
    ----------
    table : DataFrame
        One row a data set, one column a method; NaN is a gap.
    """
    gaps = table.isna().to_numpy()
    rows, columns = list(range(gaps.shape[0])), list(range(gaps.shape[1]))
    while rows and columns and gaps[rows][:, columns].any():
        part = gaps[rows][:, columns]
        of_rows, of_columns = part.mean(axis=1), part.mean(axis=0)
        if of_columns.max() >= of_rows.max():
            columns.pop(int(len(columns) - 1 - of_columns[::-1].argmax()))
        else:
            rows.pop(int(len(rows) - 1 - of_rows[::-1].argmax()))
    if not rows or not columns:
        rows, columns = [], []
    return Rectangle(
        table.iloc[rows, columns],
        tuple(key for at, key in enumerate(table.index) if at not in rows),
        tuple(key for at, key in enumerate(table.columns) if at not in columns),
    )
