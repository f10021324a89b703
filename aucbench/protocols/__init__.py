"""Protocols: which rows of a data set train, validate and test.

A protocol is a frozen dataclass that fulfils `SplitProtocol`. A split depends on the data, the protocol, the
split seed and the number of the fold only. `inner_split` and `limited` work on the split of any protocol.
"""

from aucbench.protocols.folds import KFold
from aucbench.protocols.given import Given
from aucbench.protocols.interface import Load, Side, Split, SplitProtocol
from aucbench.protocols.random_parts import Holdout, TrainValidTest
from aucbench.protocols.training_rows import inner_count, inner_split, limited

PROTOCOLS: tuple[type, ...] = (Holdout, Given, TrainValidTest, KFold)

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
]
