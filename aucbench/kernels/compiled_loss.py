"""Losses as compiled code: plain scalar functions compiled to addresses, and the call of an address.

A kernel receives an address as an integer. The kernel is therefore compiled once for all losses, including
third-party losses, and stays in the disk cache. Addresses are invalid in other processes: store the loss in a
state, never its addresses.
"""

from dataclasses import fields
from functools import cache, partial
from typing import Any, NamedTuple

import numba
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from aucbench.contracts import LossFacts
from aucbench.errors import ParameterError
from aucbench.kernels.jit import cached

SCALAR = "float64(float64, float64)"
PROX = "float64(float64, float64, float64)"


class CompiledLoss(NamedTuple):
    """The addresses of a loss in this process, and its parameter."""

    value: int  # address of value(m, theta)
    derivative: int  # address of derivative(m, theta)
    prox: int  # address of prox(m, c, theta); 0 if the loss has no prox
    theta: float


def theta(loss: Any) -> float:
    """The parameter of a loss: the value of its single dataclass field, 0 without a field.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin.

    Returns
    -------
    float
        The argument `theta` of the functions of the loss.

    Raises
    ------
    ParameterError
        The problem has no loss.
    """
    if loss is None:
        raise ParameterError("The method needs a loss: Problem(X, y, n_iterations, loss).")
    name = _field_of(loss.__class__)
    return float(getattr(loss, name)) if name else 0.0


@cache
def _field_of(cls: Any) -> str | None:
    return next((field.name for field in fields(cls)), None)


def compile_loss(loss: Any) -> CompiledLoss:
    """Compile the functions of a loss plugin, cached on disk and, per class, in this process.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin.

    Returns
    -------
    CompiledLoss
        Addresses, valid in this process.
    """
    addresses, _ = _compile_class(loss.__class__)
    return CompiledLoss(*addresses, theta(loss))


def derivative_address(loss: Any) -> int | None:
    """The address of the derivative of a loss in this process; None without a loss."""
    return None if loss is None else _compile_class(loss.__class__)[0][1]


@cache  # keeps the compiled functions alive while their addresses are in use
def _compile_class(cls: Any) -> tuple[tuple[int, int, int], list[Any]]:
    cfuncs = []
    for function, signature in ((cls.value, SCALAR), (cls.derivative, SCALAR), (LossFacts(cls).prox, PROX)):
        plain = getattr(function, "py_func", function)
        cfuncs.append(None if plain is None else cached(partial(numba.cfunc, signature), plain))
    value, derivative, prox = (0 if code is None else int(code.address) for code in cfuncs)
    return (value, derivative, prox), cfuncs


@intrinsic
def call(typingctx, address, m, theta):
    """Call the function at an address with (m, theta); in compiled code only.

    Parameters
    ----------
    address : int
        `value` or `derivative` of a `CompiledLoss`.
    m : float
        The margin.
    theta : float
        The parameter of the loss.

    Returns
    -------
    float
        The value.
    """
    double = types.float64

    def generate(context, builder, signature, args):
        number = cgutils.ir.DoubleType()
        kind = cgutils.ir.FunctionType(number, [number, number])
        function = builder.inttoptr(args[0], kind.as_pointer())
        return builder.call(function, args[1:])

    return double(types.intp, double, double), generate
