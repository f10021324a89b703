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
    """All arrays in a state, as NumPy arrays; see `arrays_of_any_library`."""
    return [each if isinstance(each, np.ndarray) else _on_host(each) for each in arrays_of_any_library(state)]


def arrays_of_any_library(state: Any) -> list[Any]:
    """All arrays in a state of nested tuples, lists, mappings and objects, each once.

    Those of JAX, torch and other libraries count if they have ``nbytes`` and ``__array__``.
    """
    found: dict[int, Any] = {}
    seen: set[int] = set()
    waiting = [state]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, np.ndarray) or _is_foreign_array(part):
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


def _is_foreign_array(part: Any) -> bool:
    """Whether a part is an array of another library; numbers of NumPy and classes are none."""
    is_array = hasattr(part, "nbytes") and hasattr(part, "__array__")
    return is_array and not isinstance(part, np.generic | type)


def _on_host(array: Any) -> NDArray[Any]:
    """An array of another library in NumPy; bytes where NumPy lacks the type, as of keys of JAX."""
    try:
        return np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)
    except TypeError:
        return np.zeros(array.nbytes, np.uint8)


def state_bytes(algorithm: Any, state: Any) -> int:
    """Bytes held by the arrays of a state, and those that the method counts itself."""
    own = MethodFacts(algorithm).state_bytes
    held = sum(array.nbytes for array in arrays(state))
    return held if own is None else held + int(algorithm.state_bytes(state))


def is_finite(algorithm: Any, state: Any) -> bool:
    """Whether the model is free of NaN and infinity: the weights of a linear method, else all arrays.

    Other parts of a linear method's state, and single numbers, may be infinite by design, such as a radius or
    a best value that is not yet known.
    """
    if MethodFacts(algorithm).weights is not None:
        with np.errstate(all="ignore"):  # an overflow makes the check fail, as intended
            return bool(np.all(np.isfinite(algorithm.weights(state))))
    return all(bool(np.all(np.isfinite(array))) for array in arrays(state) if array.ndim and _is_real(array))


def _is_real(array: NDArray[Any]) -> bool:
    """Whether values are real numbers, of types such as JAX's bfloat16 too."""
    return array.dtype.kind == "f" or (array.dtype.kind == "V" and array.dtype.type is not np.void)
