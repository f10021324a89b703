"""Protocols: which rows of a data set train and which test."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import OpenUnit, check_fields
from aucbench.data.loading import Loaded, Part
from aucbench.data.splitting import holdout
from aucbench.errors import ParameterError

Load = Callable[[Part], Loaded]  # gives a part of the data set at hand


class Side(NamedTuple):
    """The training or the test side of a split: rows of a loaded part, None for all of them."""

    X: Any
    y: NDArray[np.int8]
    rows: NDArray[np.int64] | None


class Split(NamedTuple):
    """Both sides."""

    train: Side
    test: Side


@dataclass(frozen=True)
class Holdout:
    """A random `test_fraction` of the rows tests, the others train."""

    name: ClassVar[str] = "holdout"
    test_fraction: OpenUnit = 0.2

    def __post_init__(self) -> None:
        check_fields(self)

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digests of the parts the split is made of."""
        return (load(part).sha256,)

    def split(self, load: Load, part: Part, seed: int) -> Split:
        """Split the rows of `part` by the split seed."""
        loaded = load(part)
        train, test = holdout(loaded.y, self.test_fraction, seed)
        return Split(Side(loaded.X, loaded.y[train], train), Side(loaded.X, loaded.y[test], test))


@dataclass(frozen=True)
class Given:
    """The data set's own training and test parts."""

    name: ClassVar[str] = "given"

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digests of the two parts."""
        if part is not Part.train:
            raise ParameterError(
                f"protocol=given trains on the training part and tests on the test part of a data set: "
                f"leave out dataset.part, got {part}."
            )
        return tuple(load(each).sha256 for each in (Part.train, Part.test))

    def split(self, load: Load, part: Part, seed: int) -> Split:
        """The two parts; the seed has no effect."""
        train, test = load(Part.train), load(Part.test)
        return Split(Side(train.X, train.y, None), Side(test.X, test.y, None))


PROTOCOLS: tuple[type, ...] = (Holdout, Given)
