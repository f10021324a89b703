"""How kernels are compiled."""

from collections.abc import Callable
from typing import Any

import numba

# Never nnan or ninf: they compile NaN checks away.
FAST = {"reassoc", "contract", "arcp", "nsz"}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function over arrays and scalars, kept on disk, without the interpreter lock.

    Division by zero gives inf or NaN as in NumPy. Rows of dense data are reached with `FAST` arithmetic,
    those of CSR data and everything else with strict arithmetic.
    """
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


def fast_kernel(function: Callable[..., Any]) -> Any:
    """`kernel` whose sums may be reordered, for loops over dense vectors."""
    return numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)(function)
