"""Protocols: which rows of a data set train, validate and test.

A protocol is a frozen dataclass that fulfils `SplitProtocol`. A split depends on the data, the protocol, the
split seed and the number of the fold only. `inner_split` and `limited` work on the split of any protocol.
"""

from collections.abc import Mapping
from typing import Any

from aucbench.protocols.folds import KFold
from aucbench.protocols.given import Given
from aucbench.protocols.interface import Load, Side, Split, SplitProtocol
from aucbench.protocols.random_parts import Holdout, TrainValidTest
from aucbench.protocols.training_rows import inner_count, inner_split, limited

PROTOCOLS: tuple[type, ...] = (Holdout, Given, TrainValidTest, KFold)


def recorded(name: str, parameters: Mapping[str, Any]) -> SplitProtocol:
    """The protocol that a record names; one that says nothing of `stratified` is older than the field."""
    cls: Any = next(cls for cls in PROTOCOLS if cls.name == name)  # type: ignore[attr-defined]
    absent = {} if cls is Given else {"stratified": False}
    return cls(**absent | dict(parameters))


__all__ = [
    "PROTOCOLS",
    "Given",
    "Holdout",
    "KFold",
    "Load",
    "Side",
    "Split",
    "SplitProtocol",
    "TrainValidTest",
    "inner_count",
    "inner_split",
    "limited",
    "recorded",
]
