"""Asking for rows ahead of their use; rows in random order are bound by memory latency otherwise."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from aucbench.kernels.forms import CSR, ONLY_COMPILED, is_csr, is_dense

LINE = 64  # bytes of a cache line


def prefetch(X: Any, i: int) -> None:
    """Ask for row i ahead of its use; rows in random order are bound by memory latency otherwise."""
    raise NotImplementedError(ONLY_COMPILED.format("rows.prefetch"))


@intrinsic
def _prefetch_element(typingctx, array, offset):
    """Prefetch the cache line of the element `offset` places after the first."""

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
        number = cgutils.int32_t
        kind = cgutils.ir.FunctionType(cgutils.ir.VoidType(), [address.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        builder.call(function, [address, number(0), number(3), number(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@overload(prefetch, jit_options=CSR)
def _prefetch_dense(X, i):
    if not is_dense(X):
        return None
    step = LINE // (X.dtype.bitwidth // 8)

    def implementation(X, i):
        first = i * X.shape[1]
        for offset in range(first, first + X.shape[1], step):
            _prefetch_element(X, offset)
        _prefetch_element(X, first + X.shape[1] - 1)  # a row need not start on a line

    return implementation


@overload(prefetch, jit_options=CSR)
def _prefetch_csr(X, i):
    if not is_csr(X):
        return None
    index_step = LINE // (X[1].dtype.bitwidth // 8)
    data_step = LINE // (X[2].dtype.bitwidth // 8)

    def implementation(X, i):
        start, stop = X.indptr[i], X.indptr[i + 1]
        for offset in range(start, stop, index_step):
            _prefetch_element(X.indices, offset)
        for offset in range(start, stop, data_step):
            _prefetch_element(X.data, offset)

    return implementation
