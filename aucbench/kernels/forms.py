"""Telling the two forms of rows apart, and the arithmetic of each."""

from typing import Any

from numba import types

from aucbench.contracts import CsrRows
from aucbench.kernels.compiling import FAST

DENSE: Any = {"fastmath": FAST, "error_model": "numpy"}
CSR: Any = {"fastmath": False, "error_model": "numpy"}  # fast-math makes it 2.6 times slower
ONLY_COMPILED = "aucbench.kernels: {} can only be called inside compiled code."


def is_dense(X: Any) -> bool:
    """Whether the numba type X is that of dense rows."""
    return isinstance(X, types.Array) and X.ndim == 2


def is_csr(X: Any) -> bool:
    """Whether the numba type X is that of `CsrRows`."""
    return isinstance(X, types.BaseNamedTuple) and X.instance_class is CsrRows
