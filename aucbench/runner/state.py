"""Arrays, size and finiteness of a method's state, whatever it is made of."""

from collections.abc import Mapping
from enum import Enum
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import MethodFacts


def arrays(state: Any) -> list[NDArray[Any]]:
    """All NumPy arrays in a state of nested tuples, lists, mappings and objects, each once."""
    found: dict[int, NDArray[Any]] = {}
    seen: set[int] = set()
    waiting = [state]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, np.ndarray):
            found[id(part)] = part
        elif sparse.issparse(part):
            waiting.append(part.data)
        elif isinstance(part, Mapping):
            waiting.extend(part.values())
        elif isinstance(part, tuple | list):
            waiting.extend(part)
        elif hasattr(part, "__dict__") and not isinstance(part, type | Enum | FunctionType):
            waiting.extend(vars(part).values())
    return list(found.values())


def state_bytes(state: Any) -> int:
    """Bytes held by the arrays of a state."""
    return sum(array.nbytes for array in arrays(state))


def is_finite(algorithm: Any, state: Any) -> bool:
    """Whether the model is free of NaN and infinity: the weights of a linear method, else all arrays.

    Other parts of a linear method's state may be infinite by design, such as a radius that is not yet known.
    """
    if MethodFacts(algorithm).weights is not None:
        with np.errstate(all="ignore"):  # an overflow makes the check fail, as intended
            return bool(np.all(np.isfinite(algorithm.weights(state))))
    return all(bool(np.all(np.isfinite(array))) for array in arrays(state) if array.dtype.kind == "f")
