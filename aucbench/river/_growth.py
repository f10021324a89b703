"""Resizing of method states: detection of the array axes that run over the features."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Batch, Problem
from aucbench.data.memory import require_memory
from aucbench.errors import ParameterError
from aucbench.kernels import Layout
from aucbench.runner.state import arrays

WIDTHS = 33, 34  # numbers of columns of the compared states


class Growth:
    """The array axes of a method's state that grow with the number of features.

    The method takes two rows of 33 columns, and the same rows with 34 columns. An axis that is then longer by
    one runs over the features; a new column starts with the number that `init` puts into all columns.

    Raises
    ------
    ParameterError
        If the state holds arrays outside tuples, arrays or numbers that depend on the number of features in
        another way, or columns that start with different numbers.
    """

    def __init__(self, algorithm: Any, loss: Any, layout: Layout):
        self._name = algorithm.name
        trials = [_trial(algorithm, loss, layout, d) for d in WIDTHS]
        self._arrays = self._growing(*(state for pair in zip(*trials, strict=True) for state in pair))

    def _growing(self, first: Any, second: Any, narrow: Any, wide: Any) -> Any:
        """The axes and the initial number of a growing array; for a tuple, a dict of these by position.

        `first` and `second` are states after `init`, with 33 and 34 columns; `narrow` and `wide` are the
        states after a step.
        """
        if isinstance(narrow, np.ndarray):
            sizes = list(zip(narrow.shape, wide.shape, strict=True))
            if any(pair not in (WIDTHS, pair[:1] * 2) for pair in sizes):
                self._refuse("an array whose size depends on the number of features in its own way")
            axes = tuple(axis for axis, pair in enumerate(sizes) if pair == WIDTHS)
            numbers = np.unique([*first.flat, *second.flat] if axes else [])  # none if a step makes the array
            if len(numbers) > 1:
                self._refuse("columns that do not start equal")
            return (axes, numbers[0] if len(numbers) else 0.0) if axes else None
        if isinstance(narrow, tuple):
            parts = enumerate(map(self._growing, first, second, narrow, wide))
            return {place: part for place, part in parts if part}
        if isinstance(first, int | float) and first != second:
            self._refuse("numbers that depend on the number of features")
        if arrays(narrow):
            self._refuse(f"arrays in a {type(narrow).__name__}")
        return None

    def _refuse(self, what: str) -> None:
        raise ParameterError(
            f"{self._name} cannot take new features while it learns, because its state has {what}; set "
            f"n_features to a power of two, so that features are hashed into a fixed number of columns."
        )

    def widened(self, state: Any, d: int) -> Any:
        """A copy of the state with d columns."""

        def wider(part: NDArray[Any], axes: tuple[int, ...], number: float) -> NDArray[Any]:
            shape = tuple(d if axis in axes else size for axis, size in enumerate(part.shape))
            require_memory(self._name, shape, "set n_features, so that features are hashed")
            made = np.full(shape, number, part.dtype, order="C" if part.flags.c_contiguous else "F")
            made[tuple(map(slice, part.shape))] = part
            return made

        return _changed(state, self._arrays, wider)

    def narrowed(self, state: Any, columns: NDArray[np.intp]) -> Any:
        """A copy of the state restricted to `columns`; its weights are the weights of these columns."""

        def narrower(part: NDArray[Any], axes: tuple[int, ...], _: float) -> NDArray[Any]:
            for axis in axes:  # `take` would copy the whole of an array in Fortran order
                part = part[(slice(None),) * axis + (columns,)]
            return part

        return _changed(state, self._arrays, narrower)


def _trial(algorithm: Any, loss: Any, layout: Layout, d: int) -> tuple[Any, Any]:
    """The initial state of a method, and a state after two rows of this layout."""
    X = np.zeros((2, d))
    X[:, : 1 if layout is Layout.lazy else WIDTHS[0]] = 1.0  # the same rows for both
    rows, y = sparse.csr_array(X), np.array([1, -1], np.int8)
    first, second = (algorithm.init(Problem(rows, y, 2, loss), np.random.default_rng(0)) for _ in range(2))
    return first, algorithm.step(second, Batch(rows, y, np.arange(2)))


def _changed(state: Any, growing: Any, change: Callable[..., NDArray[Any]]) -> Any:
    """The state with its growing arrays changed."""
    if isinstance(growing, tuple):
        return change(state, *growing)
    if not growing:
        return state
    parts = list(state)
    for place, part in growing.items():
        parts[place] = _changed(parts[place], part, change)
    return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
