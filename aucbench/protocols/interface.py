"""What a protocol is, and what it gives."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aucbench.data.loading import Loaded, Part
from aucbench.errors import ParameterError

Load = Callable[[Part], Loaded]  # gives a part of the data set at hand


class Side(NamedTuple):
    """One side of a split: rows of a loaded part."""

    X: Any  # (n, d) all rows of the part; ndarray or CSR, never copied
    y: NDArray[np.int8]  # (k,) labels of the rows of this side
    rows: NDArray[np.int64] | None  # (k,) their numbers, ascending; None for all n


class Split(NamedTuple):
    """The sides of a split."""

    train: Side
    test: Side
    validation: Side | None = None  # for tuning, where the protocol sets rows aside for it


@runtime_checkable
class SplitProtocol(Protocol):
    """A protocol: a frozen dataclass whose fields are those of its configuration.

    Attributes
    ----------
    name : str
        By which it is chosen.
    """

    name: ClassVar[str]

    @property
    def splits(self) -> int:
        """Number of different splits of one split seed: folds times repeats, or 1."""
        ...

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digests of the parts of the data set that the splits are made of.

        Raises
        ------
        ParameterError
            The protocol cannot split this part.
        """
        ...

    def split(self, load: Load, part: Part, seed: int, fold: int = 0) -> Split:
        """One split of a part of the data set.

        Parameters
        ----------
        load : callable
            Gives the rows and labels of a part.
        part : Part
            Which part is split.
        seed : int
            The split seed.
        fold : int
            Which of the `splits` splits, from 0.

        Raises
        ------
        ParameterError
            There is no such fold, or the seed is negative.
        DataError
            A side would have one class only.
        """
        ...


def check_fold(protocol: SplitProtocol, fold: int) -> None:
    """Refuse the number of a split that the protocol does not have.

    Raises
    ------
    ParameterError
        Names the protocol and the numbers it has.
    """
    if not 0 <= fold < protocol.splits:
        numbers = f"0 to {protocol.splits - 1}" if protocol.splits > 1 else "0"
        raise ParameterError(f"protocol={protocol.name}: fold must be {numbers}, got {fold}.")


def side(loaded: Loaded, rows: NDArray[np.int64]) -> Side:
    """A side of some rows of a part."""
    return Side(loaded.X, loaded.y[rows], rows)
