"""Smaller inputs that fail alike, and how an input is shown and made again."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.testing.problems import Size, Toy

FEWEST = Size(2, 1, 1)
BY_ONE = 8  # sizes up to this one are also tried less one
MOST_ROWS, MOST_ENTRIES = 16, 40  # of an input that is printed


def smaller_sizes(size: Size) -> Iterator[Size]:
    """Sizes to be tried next, the boldest first: all halved, one halved, one less one."""
    half = Size(*(max(few, value // 2) for few, value in zip(FEWEST, size, strict=True)))
    yield from dict.fromkeys(
        candidate
        for candidate in (
            half,
            *(size._replace(**{name: getattr(half, name)}) for name in Size._fields),
            *(
                size._replace(**{name: value - 1})
                for name, few, value in zip(Size._fields, FEWEST, size, strict=True)
                if few < value <= BY_ONE
            ),
        )
        if candidate != size
    )


def shown(toy: Toy) -> str:
    """The rows and labels as one line of literals; empty when that would be long.

    Zeros of CSR rows are left out: ``{column: value}``.
    """
    X = toy.X
    entries = X.nnz if sparse.issparse(X) else X.size
    if X.shape[0] > MOST_ROWS or entries > MOST_ENTRIES:
        return ""
    if sparse.issparse(X):
        rows_of_X: list[Any] = [
            {int(j): _short(value) for j, value in zip(row.indices, row.data, strict=True)} for row in X
        ]
    else:
        rows_of_X = [[_short(value) for value in row] for row in X]
    return f"X = {rows_of_X}, y = {toy.y.tolist()}"


def shown_rows(rows: NDArray[Any]) -> str:
    """The row numbers, to be added to the problem; empty when there are too many."""
    return f", rows = {rows.tolist()}" if 0 < rows.size <= MOST_ENTRIES else ""


def line_for(check: str, plugin: Any, size: Size | None = None, loss: Any = None) -> str:
    """A line of Python that tries the check again on the same input."""
    made = [plugin] if loss is None else [plugin, loss]
    imports = [
        f"from {type(each).__module__} import {type(each).__qualname__}"
        for each in made
        if "<locals>" not in type(each).__qualname__
    ]
    words = [_constructor(plugin), repr(check)]
    if size is not None:
        words += [f"{name}={value}" for name, value in size._asdict().items()]
    if loss is not None:
        words.append(f"loss={_constructor(loss)}")
    call = f"reproduce({', '.join(words)})"
    return "; ".join([*imports, "from aucbench.testing import reproduce", call])


def _constructor(plugin: Any) -> str:
    """The call that makes the plugin, fields that have their default left out."""
    given = []
    for field in fields(plugin) if is_dataclass(plugin) else ():
        value = getattr(plugin, field.name)
        if value != field.default:
            given.append(
                f"{field.name}={str(value)!r}" if isinstance(value, StrEnum) else f"{field.name}={value!r}"
            )
    return f"{type(plugin).__name__}({', '.join(given)})"


def _short(value: Any) -> float:
    """Three significant digits."""
    return float(f"{float(np.float64(value)):.3g}")
