"""Operations on one row of the data, written once for dense and CSR rows.

Call in compiled code. The type of X selects the version: an (n, d) C-contiguous array or `CsrRows`, float64
or float32. Vectors are float64. Sums over dense rows may be reordered (`FAST`), sums over CSR rows may not.
`for_rows`, or `for_dense_rows` and `for_csr_rows`, turn functions with an argument X into such operations.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from aucbench.contracts import CsrRows
from aucbench.kernels.jit import FAST, NO_ENTRY, only_compiled, overloaded, scalar

LINE = 64  # bytes of a cache line
AHEAD = 8  # number of rows to prefetch ahead
# Unsigned, so that indexing needs no check for negative values.
ONE, TWO, THREE, FOUR = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4)
DENSE: Any = NO_ENTRY | {"fastmath": FAST, "error_model": "numpy"}
# Fast-math makes CSR rows 2.6 times slower.
CSR: Any = NO_ENTRY | {"fastmath": False, "error_model": "numpy"}
# Without counting references to X and the order, which takes as long as a short row.
PREFETCH: Any = CSR | {"forceinline": True, "_nrt": False}


def is_dense(X: Any) -> bool:
    """Whether X is the numba type of dense rows."""
    return isinstance(X, types.Array) and X.ndim == 2


def is_csr(X: Any) -> bool:
    """Whether X is the numba type of `CsrRows`."""
    return isinstance(X, types.BaseNamedTuple) and X.instance_class is CsrRows


def _version(
    operation: Callable[..., Any], options: Any, is_meant: Callable[[Any], bool]
) -> Callable[..., Any]:
    """Register the decorated function as a version of an operation, for some types of X."""

    def register(implementation: Any) -> Any:
        signature = inspect.signature(implementation)

        @overload(operation, jit_options=options)
        @functools.wraps(implementation)
        def choose(*args: Any, **kwargs: Any) -> Any:
            return implementation if is_meant(signature.bind(*args, **kwargs).arguments["X"]) else None

        return choose

    return register


def for_dense_rows(function: Callable[..., Any]) -> Any:
    """Turn a function for dense rows into an operation on rows."""
    operation = only_compiled(function)
    _version(operation, DENSE, is_dense)(function)
    return operation


def for_csr_rows(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Register the decorated function as the version of an operation for CSR rows."""
    return _version(operation, CSR, is_csr)


def for_rows(csr: Any = CSR) -> Callable[..., Any]:
    """Turn one function for dense and CSR rows into an operation; `csr` are the options for CSR rows."""

    def register(function: Callable[..., Any]) -> Any:
        operation = for_dense_rows(function)
        _version(operation, csr, is_csr)(function)
        return operation

    return register


@overloaded(**CSR)
def extent(X: Any, i: int) -> Any:
    """Start and end of the entries of row i, unsigned."""
    if is_dense(X):
        return lambda X, i: (np.uintp(0), np.uintp(X.shape[1]))
    return lambda X, i: (np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1]))


@overloaded(**CSR)
def are_dense(X: Any) -> Any:
    """Whether X holds dense rows, a constant of the compiled code."""
    flag = is_dense(X)
    return lambda X: flag


@overloaded(**CSR)
def entry(X: Any, i: int, k: int) -> Any:
    """Column and float64 value of entry k of row i, with k in the extent of the row."""
    if is_dense(X):
        return lambda X, i, k: (k, np.float64(X[i, k]))
    return lambda X, i, k: (X.indices[k], np.float64(X.data[k]))


@for_dense_rows
def dot(X: Any, i: int, w: Any) -> Any:
    """The product w.x_i."""
    total = 0.0
    for j in range(X.shape[1]):
        total += X[i, j] * w[j]
    return total


@for_csr_rows(dot)
def _dot_csr(X, i, w):
    indices, data = X.indices, X.data
    start, stop = extent(X, i)
    main_stop = stop - ((stop - start) & THREE)
    # four partial sums: additions need not wait for each other
    s0 = s1 = s2 = s3 = 0.0
    for k in range(start, main_stop, FOUR):
        s0 += data[k] * w[indices[k]]
        s1 += data[k + ONE] * w[indices[k + ONE]]
        s2 += data[k + TWO] * w[indices[k + TWO]]
        s3 += data[k + THREE] * w[indices[k + THREE]]
    for k in range(main_stop, stop):
        s0 += data[k] * w[indices[k]]
    return (s0 + s1) + (s2 + s3)


@for_rows(DENSE)  # contiguous values: vectorised in any order
def norm(X: Any, i: int) -> Any:
    """The squared norm |x_i|^2."""
    total = 0.0
    start, stop = extent(X, i)
    for k in range(start, stop):
        _, x = entry(X, i, k)
        total += x * x
    return total


@for_dense_rows
def dot_norm(X: Any, i: int, w: Any) -> Any:
    """w.x_i and |x_i|^2 in one pass."""
    product = square = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[i, j])
        product += x * w[j]
        square += x * x
    return product, square


@for_csr_rows(dot_norm)
def _dot_norm_csr(X, i, w):
    return dot(X, i, w), norm(X, i)


@for_dense_rows
def dot_norms(X: Any, i: int, w: Any) -> Any:
    """w.x_i, |x_i|^2 and |x_i|_1 in one pass."""
    product = square = absolute = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[i, j])
        product += x * w[j]
        square += x * x
        absolute += abs(x)
    return product, square, absolute


@for_csr_rows(dot_norms)
def _dot_norms_csr(X, i, w):
    absolute = 0.0
    start, stop = extent(X, i)
    for k in range(start, stop):
        absolute += abs(np.float64(X.data[k]))
    return dot(X, i, w), norm(X, i), absolute


@for_rows()
def axpy_dot_norm(a: float, X: Any, i: int, u: Any, j: int) -> Any:
    """Add a x_i to u, then u.x_j and |x_j|^2; j = -1 if there is no next row.

    It takes two passes: in one pass, sums would be vectorised in another order than in `dot_norm`, and the
    weights would depend on where training is interrupted.
    """
    if a != 0.0:
        axpy(a, X, i, u)
    return dot_norm(X, j, u) if j >= 0 else (0.0, 0.0)


@for_rows()
def axpy2_dot_norm(a: float, X: Any, i: int, u: Any, b: float, v: Any, j: int) -> Any:
    """As `axpy_dot_norm`, but also add b x_i to v; b is 0 if a is 0."""
    if a != 0.0:
        axpy2(a, X, i, u, b, v)
    return dot_norm(X, j, u) if j >= 0 else (0.0, 0.0)


@for_rows()
def axpy(a: float, X: Any, i: int, w: Any) -> None:
    """Add a x_i to w."""
    start, stop = extent(X, i)
    for k in range(start, stop):
        j, x = entry(X, i, k)
        w[j] += a * x


@for_rows()
def axpy2(a: float, X: Any, i: int, u: Any, b: float, v: Any) -> None:
    """Add a x_i to u and b x_i to v in one pass."""
    start, stop = extent(X, i)
    for k in range(start, stop):
        j, x = entry(X, i, k)
        u[j] += a * x
        v[j] += b * x


@intrinsic
def _prefetch_element(typingctx, array, offset):
    """Prefetch the cache line of the element at an offset from the first element."""

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
        number = cgutils.int32_t
        kind = cgutils.ir.FunctionType(cgutils.ir.VoidType(), [address.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        builder.call(function, [address, number(0), number(3), number(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@overloaded(**PREFETCH)
def prefetch(X: Any, i: int) -> Any:
    """Load row i, or entry i of a vector, into the cache ahead of its use."""
    if is_dense(X):
        step = LINE // (X.dtype.bitwidth // 8)

        def dense(X, i):
            first = i * X.shape[1]
            for offset in range(first, first + X.shape[1], step):
                _prefetch_element(X, offset)
            _prefetch_element(X, first + X.shape[1] - 1)  # a row need not start on a line

        return dense
    if is_csr(X):
        index_step = LINE // (X[1].dtype.bitwidth // 8)
        data_step = LINE // (X[2].dtype.bitwidth // 8)

        def csr(X, i):
            start, stop = X.indptr[i], X.indptr[i + 1]
            for offset in range(start, stop, index_step):
                _prefetch_element(X.indices, offset)
            for offset in range(start, stop, data_step):
                _prefetch_element(X.data, offset)

        return csr
    is_vector = isinstance(X, types.Array) and X.ndim == 1
    return (lambda X, i: _prefetch_element(X, i)) if is_vector else None


@scalar
def visit(X, order, k):
    """The row ``order[k]``; prefetches the row that the loop will visit `AHEAD` rows later.

    X may be a vector with an entry for each row, such as the labels. Without prefetching, random rows are
    bound by memory latency.
    """
    if k + AHEAD < order.size:
        prefetch(X, order[k + AHEAD])
    return order[k]
