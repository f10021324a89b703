"""How kernels are compiled."""

from collections.abc import Callable
from typing import Any

import numba

# Never nnan or ninf: they compile NaN checks away.
FAST = {"reassoc", "contract", "arcp", "nsz"}


def cached(compiler: Callable[..., Any], function: Callable[..., Any], **options: Any) -> Any:
    """Apply a compiler of numba and keep the result on disk, unless the function was typed in at a prompt."""
    try:
        return compiler(cache=True, error_model="numpy", **options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return compiler(error_model="numpy", **options)(function)  # no file, no place in the cache


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function over arrays and scalars, kept on disk, without the interpreter lock.

    Division by zero gives inf or NaN as in NumPy. Rows of dense data are reached with `FAST` arithmetic,
    those of CSR data and everything else with strict arithmetic.

    Parameters
    ----------
    function : callable
        At the level of its module; what it calls must be in its own file or in this package, or a change of
        it would go unnoticed.

    Returns
    -------
    callable
        Compiled when it is first called, once for each combination of types.
    """
    return cached(numba.njit, function, nogil=True)


def fast_kernel(function: Callable[..., Any]) -> Any:
    """`kernel` whose sums may be reordered, for loops over dense vectors."""
    return cached(numba.njit, function, nogil=True, fastmath=FAST)
