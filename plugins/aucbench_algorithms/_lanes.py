"""Eight numbers side by side, one for each setting of a grid, with which compiled code computes as with one.

A value of the numba type `Lanes` is one register of the processor. Sums, differences, products and quotients
take two of them, or one and a number, and every lane has arithmetic of its own: a setting whose numbers are
infinite or NaN does not reach the others. To be used inside compiled code only.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

from aucbench.kernels import kernel
from aucbench.kernels.rows import CSR, ONE, TWO, extent

WIDTH = 8  # settings; also the numbers in the widest register of today's processors
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)


class _LanesType(types.Type):  # type: ignore[misc]  # numba declares no types
    def __init__(self) -> None:
        super().__init__(name="Lanes")


Lanes = _LanesType()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]  # numba declares no types
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _address(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


def _broadcast(builder: Any, number: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, cgutils.int32_t(0))
    zeros = ir.Constant(ir.VectorType(cgutils.int32_t, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)


@intrinsic
def load(typingctx, array, place):
    """The lanes that begin at a place of an array, counted in numbers from its first one."""

    def generate(context, builder, signature, args):
        address = _address(context, builder, signature.args[0], *args)
        return builder.load(address, align=8)

    return Lanes(array, types.uintp), generate


@intrinsic
def store(typingctx, value, array, place):
    """Write the lanes to a place of an array."""

    def generate(context, builder, signature, args):
        builder.store(args[0], _address(context, builder, signature.args[1], *args[1:]), align=8)
        return context.get_dummy_value()

    return types.void(Lanes, array, types.uintp), generate


@intrinsic
def same(typingctx, number):
    """Lanes that are all one number."""

    def generate(context, builder, signature, args):
        return _broadcast(builder, args[0])

    return Lanes(types.float64), generate


@intrinsic
def add_product(typingctx, total, number, value):
    """The lanes total + number * value, rounded once where the processor can."""

    def generate(context, builder, signature, args):
        total, number, value = args
        product = builder.fmul(_broadcast(builder, number), value, flags=("contract",))
        return builder.fadd(total, product, flags=("contract",))

    return Lanes(Lanes, types.float64, Lanes), generate


@intrinsic
def where_less(typingctx, left, right, yes, no):
    """`yes` in the lanes where left < right, `no` in the others, where one of the two is NaN too."""

    def generate(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[2], args[3])

    return Lanes(Lanes, Lanes, Lanes, Lanes), generate


@intrinsic
def any_moves(typingctx, value):
    """Whether a lane differs from zero; NaN does."""

    def generate(context, builder, signature, args):
        differs = builder.fcmp_unordered("!=", args[0], ir.Constant(_VECTOR, [0.0] * WIDTH))
        bits = builder.bitcast(differs, ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", bits, bits.type(0))

    return types.boolean(Lanes), generate


@intrinsic
def root(typingctx, value):
    """The square roots of the lanes."""

    def generate(context, builder, signature, args):
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        name = f"llvm.sqrt.v{WIDTH}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return Lanes(Lanes), generate


def _arithmetic(name: str) -> Any:
    @intrinsic
    def operate(typingctx, left, right):
        def generate(context, builder, signature, args):
            return getattr(builder, name)(*args)

        return Lanes(Lanes, Lanes), generate

    return operate


def _register(operation: Any, name: str) -> None:
    operate = _arithmetic(name)
    lanes_lanes = lambda left, right: operate(left, right)  # noqa: E731
    lanes_number = lambda left, right: operate(left, same(np.float64(right)))  # noqa: E731
    number_lanes = lambda left, right: operate(same(np.float64(left)), right)  # noqa: E731

    @overload(operation, jit_options=CSR)
    def choose(left, right):
        if left is Lanes:
            return lanes_lanes if right is Lanes else lanes_number
        return number_lanes if right is Lanes else None


for _operations, _name in (
    ((operator.add, operator.iadd), "fadd"),
    ((operator.sub, operator.isub), "fsub"),
    ((operator.mul, operator.imul), "fmul"),
    ((operator.truediv, operator.itruediv), "fdiv"),
):
    for _operation in _operations:
        _register(_operation, _name)


@kernel
def zero():
    """Lanes of zeros."""
    return same(0.0)


@kernel
def numbers(array):
    """The first lanes of an array."""
    return load(array, np.uintp(0))


@kernel
def keep(value, array):
    """Write lanes to the beginning of an array."""
    store(value, array, np.uintp(0))


@kernel
def size(value):
    """The absolute values of the lanes."""
    return where_less(value, zero(), zero() - value, value)


@kernel
def place(U, column, part):
    """Where the lanes of U (d, parts, 8) at a column and a part begin."""
    return (np.uintp(column) * np.uintp(U.shape[1]) + np.uintp(part)) * np.uintp(WIDTH)


@kernel
def dot(X, i, U, part):
    """The products of the CSR row x_i with the eight vectors of a part of U."""
    indices, data = X.indices, X.data
    start, stop = extent(X, i)
    whole = stop - ((stop - start) & ONE)
    # two sums, or every addition waits for the one before
    first, second = zero(), zero()
    for k in range(start, whole, TWO):
        first = add_product(first, data[k], load(U, place(U, indices[k], part)))
        second = add_product(second, data[k + ONE], load(U, place(U, indices[k + ONE], part)))
    for k in range(whole, stop):
        first = add_product(first, data[k], load(U, place(U, indices[k], part)))
    return first + second


@kernel
def axpy(a, X, i, U, part):
    """Add a x_i to the eight vectors of a part of U, each by its own a."""
    start, stop = extent(X, i)
    for k in range(start, stop):
        at = place(U, X.indices[k], part)
        store(add_product(load(U, at), X.data[k], a), U, at)


@kernel
def square(U, part):
    """The squared norms of the eight vectors of a part of U."""
    total = zero()
    for column in range(U.shape[0]):
        u = load(U, place(U, column, part))
        total += u * u
    return total


def zeros(*shape: int) -> np.ndarray:
    """A float64 array of zeros (..., 8) whose lanes lie in one cache line each."""
    count = math.prod(shape)
    room = np.zeros(count + WIDTH)
    skipped = -room.ctypes.data % (8 * WIDTH) // 8
    return room[skipped : skipped + count].reshape(shape)


def joined(vectors: Sequence[np.ndarray]) -> np.ndarray:
    """(d, parts, 8) the vectors (parts, d) of eight settings, side by side."""
    parts, d = vectors[0].shape
    U = zeros(d, parts, WIDTH)
    for lane, each in enumerate(vectors):
        if each.any():  # a new array of zeros costs nothing
            U[:, :, lane] = each.T
    return U


def separate(U: np.ndarray, vectors: Sequence[np.ndarray]) -> None:
    """Set eight times the vectors (parts, d) to those of U (d, parts, 8)."""
    for start in range(0, len(U), 4096):  # columns that stay in the cache
        part = U[start : start + 4096]
        for lane, each in enumerate(vectors):
            each[:, start : start + 4096] = part[:, :, lane].T
