"""Eight numbers side by side, one for each setting of a grid, that compiled code uses like one number.

A value of the numba type `Lanes` is one processor register. Sums, differences, products and quotients take
two `Lanes`, or `Lanes` and a number. Lanes are independent: infinity or NaN in one setting does not reach
other settings. In compiled code, `array` turns an array (..., 8) into an array of lanes, which `rows`,
`buffers`, `vectors` and `weights` accept like an array of numbers. A kernel that branches by `where_less` and
`any_moves` therefore serves one setting and eight; the argument types select the compiled version.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.extending import intrinsic, lower_cast, models, overload, register_model
from numba.np.arrayobj import make_array, populate_array

from aucbench.kernels.jit import NO_ENTRY, overloaded

WIDTH = 8  # settings in one vector: the widest register of today's processors
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_STRICT: Any = NO_ENTRY | {"error_model": "numpy"}


class _LanesType(types.Type):  # type: ignore[misc]  # numba declares no types
    def __init__(self) -> None:
        super().__init__(name="Lanes")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        return Conversion.safe if isinstance(other, types.Number) else None


_Lanes = _LanesType()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]  # numba declares no types
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


@lower_cast(types.Number, _LanesType)
def _broadcast(context, builder, fromty, toty, number):
    """One number in all lanes."""
    number = context.cast(builder, number, fromty, types.float64)
    vector = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, cgutils.int32_t(0))
    zeros = ir.Constant(ir.VectorType(cgutils.int32_t, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(vector, ir.Constant(_VECTOR, ir.Undefined), zeros)


@intrinsic
def array(typingctx, numbers):
    """An array of lanes that views a contiguous array (..., 8)."""
    kind = types.Array(_Lanes, numbers.ndim - 1, "C", aligned=False)

    def generate(context, builder, signature, args):
        source = make_array(signature.args[0])(context, builder, args[0])
        view = make_array(kind)(context, builder)
        populate_array(
            view,
            data=builder.bitcast(source.data, _VECTOR.as_pointer()),
            shape=cgutils.unpack_tuple(builder, source.shape)[:-1],
            strides=cgutils.unpack_tuple(builder, source.strides)[:-1],
            itemsize=context.get_constant(types.intp, 8 * WIDTH),
            meminfo=source.meminfo,
            parent=source.parent,
        )
        context.nrt.incref(builder, kind, view._getvalue())
        return view._getvalue()

    return kind(numbers), generate


def _arithmetic(operations: Sequence[Any], name: str) -> None:
    @intrinsic
    def operate(typingctx, left, right):
        def generate(context, builder, signature, args):
            return getattr(builder, name)(*args, flags=("contract",))

        return _Lanes(_Lanes, _Lanes), generate

    implementation = lambda left, right: operate(left, right)  # noqa: E731

    def choose(left, right):
        return implementation if _Lanes in (left, right) else None

    for operation in operations:
        overload(operation, jit_options=_STRICT)(choose)


_arithmetic((operator.add, operator.iadd), "fadd")
_arithmetic((operator.sub, operator.isub), "fsub")
_arithmetic((operator.mul, operator.imul), "fmul")
_arithmetic((operator.truediv, operator.itruediv), "fdiv")


@intrinsic
def _select_less(typingctx, left, right, yes, no):
    def generate(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[2], args[3])

    return _Lanes(_Lanes, _Lanes, _Lanes, _Lanes), generate


@intrinsic
def _differs(typingctx, value):
    def generate(context, builder, signature, args):
        differs = builder.fcmp_unordered("!=", args[0], ir.Constant(_VECTOR, [0.0] * WIDTH))
        bits = builder.bitcast(differs, ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", bits, bits.type(0))

    return types.boolean(_Lanes), generate


@intrinsic
def _root(typingctx, value):
    def generate(context, builder, signature, args):
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        name = f"llvm.sqrt.v{WIDTH}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return _Lanes(_Lanes), generate


@overloaded(**_STRICT)
def where_less(left: Any, right: Any, yes: Any, no: Any) -> Any:
    """`yes` where left < right, else (also for NaN) `no`; for lanes or numbers."""
    if _Lanes in (left, right, yes, no):
        return lambda left, right, yes, no: _select_less(left, right, yes, no)
    return lambda left, right, yes, no: yes if left < right else no


@overloaded(**_STRICT)
def any_moves(value: Any) -> Any:
    """Whether a number, or any lane, is not zero; NaN counts."""
    return (lambda value: _differs(value)) if value is _Lanes else (lambda value: value != 0.0)


@overloaded(**_STRICT)
def root(value: Any) -> Any:
    """The square root of a number or of the lanes."""
    return (lambda value: _root(value)) if value is _Lanes else (lambda value: np.sqrt(value))


@overloaded(**_STRICT)
def room(like: Any, count: int) -> Any:
    """A new zero vector of the element type of `like`: numbers or lanes."""
    if like.dtype is _Lanes:
        return lambda like, count: array(np.zeros((count, WIDTH)))
    return lambda like, count: np.zeros(count)


@overload(abs, jit_options=_STRICT)
def _abs(value):
    return (lambda value: _select_less(value, 0.0, 0.0 - value, value)) if value is _Lanes else None


@overload(operator.neg, jit_options=_STRICT)
def _negative(value):
    return (lambda value: -0.0 - value) if value is _Lanes else None


def zeros(*shape: int) -> np.ndarray:
    """A float64 array of zeros (..., 8), with the lanes of an element in one cache line."""
    count = math.prod(shape)
    room = np.zeros(count + WIDTH)
    skipped = -room.ctypes.data % (8 * WIDTH) // 8
    return room[skipped : skipped + count].reshape(shape)


def joined(vectors: Sequence[np.ndarray]) -> np.ndarray:
    """(d, parts, 8) the vectors (parts, d) of eight settings, side by side."""
    parts, d = vectors[0].shape
    U = zeros(d, parts, WIDTH)
    for lane, vector in enumerate(vectors):
        if vector.any():  # skip zeros, which need no memory yet
            U[:, :, lane] = vector.T
    return U


def separate(U: np.ndarray, vectors: Sequence[np.ndarray]) -> None:
    """Copy U (d, parts, 8) into the vectors (parts, d) of eight settings."""
    for start in range(0, len(U), 4096):  # blocks of columns that fit in the cache
        part = U[start : start + 4096]
        for lane, vector in enumerate(vectors):
            vector[:, start : start + 4096] = part[:, :, lane].T
